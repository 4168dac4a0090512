import HTTPTypes
import Hummingbird
import NIOCore

/// The body of a request whose client waits for a word before it sends it: reading it says the word.
struct AwaitedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var body: RequestBody.AsyncIterator
        fileprivate var channel: (any Channel)?

        mutating func next() async throws -> ByteBuffer? {
            try await self.next(isolation: #isolation)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> ByteBuffer? {
            self.channel?.triggerUserOutboundEvent(ExpectationWatch.BodyIsWanted(), promise: nil)
            self.channel = nil
            return try await self.body.next(isolation: actor)
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self.body.makeAsyncIterator(), channel: self.channel)
    }
}

extension Request {
    /// The request as it is routed: what its client expects of us is met when the body is read.
    ///
    /// - Throws: 417 for an expectation that there is not.
    func meetingExpectation(on channel: any Channel) throws(APIError) -> Request {
        guard let expectation = self.headers[.expect] else { return self }
        guard expectation.lowercased() == "100-continue" else { throw .expectationFailed }
        var request = self
        request.body = RequestBody(asyncSequence: AwaitedBody(body: self.body, channel: channel))
        return request
    }
}

extension APIError {
    /// 417.
    static let expectationFailed = APIError(
        .expectationFailed,
        code: "expectation_failed",
        detail: "100-continue is all that can be expected.",
        source: .header("Expect")
    )
}
