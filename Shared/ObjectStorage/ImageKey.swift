public import Primitives

/// The public name of an image: 256 random bits, so that nobody finds one who was not shown it.
public struct ImageKey: Hashable, Sendable {
    /// 43 characters.
    public let text: String

    private static let bytes = 32

    /// A new name.
    public static func random() -> ImageKey {
        var generator = SystemRandomNumberGenerator()
        return ImageKey(Base64URL.encode((0..<Self.bytes).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    /// Reads a name; nil for a text that is none.
    public init?(reading text: some StringProtocol) {
        guard Base64URL.decode(text)?.count == Self.bytes else { return nil }
        self.text = String(text)
    }

    private init(_ text: String) { self.text = text }
}

/// An image that is kept: everything about it but its bytes.
public struct ImageRecord: Hashable, Sendable {
    /// Its public name.
    public let key: ImageKey
    /// Whose it is; it lies under this user's prefix.
    public let owner: UserID
    /// Its media type.
    public let contentType: String

    /// Puts the values together.
    public init(key: ImageKey, owner: UserID, contentType: String) {
        self.key = key
        self.owner = owner
        self.contentType = contentType
    }

    /// Where the bytes are: a prefix per service and user, so that nobody writes among what is somebody else's.
    ///
    /// - Throws: `ImageMisplaced` for a service whose name cannot be part of a key.
    public func place(in service: String) throws(ImageMisplaced) -> ObjectKey {
        guard let place = ObjectKey([service, "users", self.owner.description, self.key.text]) else {
            throw ImageMisplaced()
        }
        return place
    }
}

/// There is no place with this name.
public struct ImageMisplaced: Error, Hashable, Sendable {}
