import Foundation
import Glibc
import NIOPosix

/// Objects as files below a folder.
///
/// Files are read and written on threads made for blocking work, never on those that serve requests.
public struct FolderStore: ObjectStore {
    private let root: String

    /// Takes a folder, which is made when it is missing.
    ///
    /// - Throws: `ObjectStorageError.file` when that cannot be done or it cannot be written.
    public init(path: String) throws(ObjectStorageError) {
        self.root = path.hasSuffix("/") ? String(path.dropLast()) : path
        try Self.makeFolder(self.root)
        guard unsafe access(self.root, R_OK | W_OK | X_OK) == 0 else { throw .file(errno) }
    }

    /// Keeps an object: after a crash there is the old one, the new one, or none, and never a part of one.
    public func put(_ bytes: [UInt8], contentType: String, at key: ObjectKey) async throws(ObjectStorageError) {
        try await Self.blocking { () throws(ObjectStorageError) in try self.write(bytes, at: key) }
    }

    /// The bytes of an object.
    public func get(_ key: ObjectKey, limit: Int) async throws(ObjectStorageError) -> [UInt8]? {
        try await Self.blocking { () throws(ObjectStorageError) in
            try Self.read(self.path(of: key), limit: limit)
        }
    }

    /// Removes an object.
    public func delete(_ key: ObjectKey) async throws(ObjectStorageError) {
        try await Self.blocking { () throws(ObjectStorageError) in
            guard unsafe unlink(self.path(of: key)) == 0 || errno == ENOENT else { throw .file(errno) }
        }
    }

    private func path(of key: ObjectKey) -> String { "\(self.root)/\(key.text)" }

    private static func blocking<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ObjectStorageError) -> Value
    ) async throws(ObjectStorageError) -> Value {
        let result: Result<Value, ObjectStorageError>
        do {
            result = try await NIOThreadPool.singleton.runIfActive { () -> Result<Value, ObjectStorageError> in
                do throws(ObjectStorageError) {
                    return .success(try body())
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            // The pool ends with the process; a cancelled caller needs no answer.
            throw .unavailable
        }
        return try result.get()
    }

    // MARK: Files

    private static func makeFolder(_ path: String) throws(ObjectStorageError) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/\(part)"
            guard unsafe mkdir(made, 0o700) == 0 || errno == EEXIST else { throw .file(errno) }
        }
    }

    private func write(_ bytes: [UInt8], at key: ObjectKey) throws(ObjectStorageError) {
        let folder = ([self.root] + key.segments.dropLast()).joined(separator: "/")
        try Self.makeFolder(folder)
        // No key has a point in it, so no object can be in the way of one that is being written.
        let aside = "\(folder)/.\(UUID().uuidString)"
        let file = unsafe open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw .file(errno) }
        do throws(ObjectStorageError) {
            defer { close(file) }
            try Self.write(bytes, to: file)
            guard fsync(file) == 0 else { throw .file(errno) }
        } catch {
            unsafe unlink(aside)
            throw error
        }
        guard unsafe rename(aside, self.path(of: key)) == 0 else {
            let code = errno
            unsafe unlink(aside)
            throw .file(code)
        }
        try Self.synchronise(folder)
    }

    private static func write(_ bytes: [UInt8], to file: CInt) throws(ObjectStorageError) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes[done...].withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw .file(errno) }
            done += max(count, 0)
        }
    }

    /// The new name, too, must be there after a crash.
    private static func synchronise(_ folder: String) throws(ObjectStorageError) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .file(errno) }
    }

    private static func read(_ path: String, limit: Int) throws(ObjectStorageError) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .file(errno) }
            return nil
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = unsafe part.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw .file(errno) }
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else { throw .tooLong }
            bytes += part.prefix(max(count, 0))
        }
    }
}
