import EventLoops
import HTTPTypes
public import Hummingbird
public import ImageFiles
public import ObjectStorage
public import Primitives

/// Takes pictures out of requests, keeps them, and shows them to the public.
public struct ImageDesk: Sendable {
    private let store: any ObjectStore
    private let service: String
    private let limits: ImageLimits
    /// What is being received: a slow upload holds its place for as long as a request may take, so that these are many,
    /// and nobody has more than a few.
    private let receiving = FairQueue(
        places: Self.maximumReceiving,
        each: Self.maximumOfOne,
        room: Self.maximumWaiting,
        share: Self.maximumShare
    )
    /// What is here and is being cleaned: each holds a whole file and its cleaned copy in memory.
    private let cleaning = FairQueue(
        places: Self.maximumCleaning,
        each: Self.maximumOfOne,
        room: Self.maximumReceived,
        share: Self.maximumShare
    )

    static let maximumReceiving = 32
    static let maximumCleaning = 8
    /// Of one person.
    static let maximumOfOne = 2
    /// Of these nothing was read yet.
    private static let maximumWaiting = 64
    /// Of these all bytes are in memory.
    private static let maximumReceived = 16
    private static let maximumShare = 4

    /// Takes a store; `service` is the first part of all its keys there.
    public init(store: any ObjectStore, service: String, limits: ImageLimits = ImageLimits()) {
        self.store = store
        self.service = service
        self.limits = limits
    }

    // MARK: In

    /// The bytes of a file that is a request's body; as many as a picture may have unless `limit` says otherwise.
    ///
    /// It waits while its owner has others on their way; the body of a request that waits is not read.
    ///
    /// - Throws: 413 beyond the limit, 503 when too many wait.
    public func upload(
        in request: Request,
        _ context: AppRequestContext,
        limit: Int? = nil
    ) async throws -> [UInt8] {
        let owner = try context.requireIdentity().userID.description
        let limit = limit ?? self.limits.bytes
        return try await self.receive(for: owner) {
            try await request.rawBody(context: context, limit: limit).bytes
        }
    }

    /// How many wait to be received.
    var waiting: Int { self.receiving.waiting }

    /// Reads a body when its owner has few others on their way; `read` waits for its bytes.
    func receive(for owner: String, _ read: () async throws -> [UInt8]) async throws -> [UInt8] {
        try await Self.inTurn(self.receiving, owner, read)
    }

    /// The picture that these bytes are, without metadata; its kind is what its bytes are.
    ///
    /// - Throws: 415 or 422 for what is no such picture, 503 when too many wait.
    public func picture(of bytes: [UInt8], for owner: UserID) async throws -> CleanImage {
        try await Self.inTurn(self.cleaning, owner.description) {
            try CleanImage(cleaning: bytes, within: self.limits)
        }
    }

    private static func inTurn<Value: Sendable>(
        _ queue: FairQueue,
        _ owner: String,
        _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await queue.run(for: owner, work)
        } catch is FairQueue.Full {
            throw APIError.unavailable("too_many_uploads")
        }
    }

    /// Keeps a picture under its owner's prefix.
    ///
    /// - Throws: 503 while the store cannot be reached.
    public func keep(_ picture: CleanImage, as record: ImageRecord) async throws {
        let place = try record.place(in: self.service)
        do {
            try await self.store.put(picture.bytes, contentType: record.contentType, at: place)
        } catch ObjectStorageError.unavailable {
            throw Self.unavailable
        }
    }

    /// Deletes a picture; it may be gone already.
    ///
    /// - Throws: `ObjectStorageError`.
    public func discard(_ record: ImageRecord) async throws {
        try await self.store.delete(try record.place(in: self.service))
    }

    private static let unavailable = APIError.unavailable("images_unavailable")

    // MARK: Out

    /// An image for whoever knows its name: it never changes, so nobody has to ask for it twice.
    ///
    /// - Throws: 404 when its bytes are gone, 503 while the store cannot be reached.
    public func answer(_ record: ImageRecord, to request: Request) async throws -> APIResponse {
        let tag = EntityTag(text: "\"\(record.key.text)\"")
        let headers: HTTPFields = [
            .eTag: tag.text, .cacheControl: "public, max-age=31536000, immutable", .contentDisposition: "inline",
            .contentSecurityPolicy: "default-src 'none'; sandbox",
        ]
        guard !tag.isKnown(to: request.headers) else { return APIResponse(.notModified, headers: headers) }
        let place = try record.place(in: self.service)
        do {
            guard let bytes = try await self.store.get(place, limit: self.limits.bytes) else {
                throw APIError.notFound(parameter: "key")
            }
            var all = headers
            all[.contentType] = record.contentType
            return APIResponse(.ok, body: bytes, headers: all)
        } catch ObjectStorageError.unavailable {
            throw Self.unavailable
        }
    }
}

extension ImageProblem: APIErrorConvertible {
    /// 413, 415 or 422.
    public var apiError: APIError {
        switch self {
        case .unknownKind:
            APIError(
                .unsupportedMediaType,
                code: "unsupported_image_type",
                detail: "Send a JPEG, PNG or WebP file.",
                source: .pointer("")
            )
        case .malformed: .refused("image_malformed", detail: "The file is damaged or cut off.", source: .pointer(""))
        case .animated: .refused("image_animated", detail: "Send a picture that does not move.", source: .pointer(""))
        case .tooManyBytes: .bodyTooLarge
        case .tooManyPixels:
            .refused(
                "image_too_large",
                detail: "The picture has too many pixels, or takes too long to show.",
                source: .pointer("")
            )
        }
    }
}

extension ServiceHost {
    /// Images of this service.
    ///
    /// - Throws: `ConfigurationProblem`.
    public func imageDesk() throws(ConfigurationProblem) -> ImageDesk {
        let settings = try ImageStoreSettings(self.settings.reader)
        return ImageDesk(store: try settings.store(http: self.http), service: self.settings.service)
    }
}
