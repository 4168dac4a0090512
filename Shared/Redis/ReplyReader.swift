import CHiredis

/// Makes replies of the bytes that come, by hiredis' reader.
///
/// Belongs to one thread.
final class ReplyReader {
    private let reader: UnsafeMutablePointer<redisReader>

    init() {
        guard let reader = redisReaderCreate() else { preconditionFailure("no memory for a reader of Redis' replies") }
        self.reader = reader
    }

    deinit { redisReaderFree(self.reader) }

    /// Takes bytes as they come.
    ///
    /// - Throws: `RedisError` with `lost` when they cannot be of Redis.
    func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard redisReaderFeed(self.reader, start, bytes.count) == REDIS_OK else { throw Self.wrong }
    }

    /// The next whole reply, nil when there is none yet.
    ///
    /// - Throws: `RedisError` with `lost` when the bytes cannot be of Redis.
    func next() throws(RedisError) -> RedisValue? {
        var raw: UnsafeMutableRawPointer?
        guard redisReaderGetReply(self.reader, &raw) == REDIS_OK else { throw Self.wrong }
        guard let raw else { return nil }
        defer { freeReplyObject(raw) }
        return RedisValue(copying: raw.assumingMemoryBound(to: redisReply.self).pointee)
    }

    private static let wrong = RedisError(.lost, "the server does not speak the Redis protocol")
}
