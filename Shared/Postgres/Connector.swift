import CLibPQ
import EventLoops
import Glibc

/// A handle on its way from the thread that connected it to the loop that will own it.
///
/// Sendable: one thread lets it go before the next one has it, and libpq ties a handle to no thread.
struct ConnectedHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// A request to stop what a connection is doing.
///
/// It holds what it needs and does not touch the connection.
struct CancelHandle: @unchecked Sendable {
    // Sendable: used by one thread, once.
    let pointer: OpaquePointer

    /// Blocks until the server has taken the request.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        PQcancel(self.pointer, &message, CInt(message.count))
        PQfreeCancel(self.pointer)
    }
}

/// Opens connections on side threads: name look-up blocks in libpq, and only its blocking connect gives each of several
/// hosts a time limit of its own.
struct Connector: Sendable {
    let configuration: PostgresConfiguration
    let isReadOnly: Bool

    private struct Waiting {
        var caller: Handover<Result<ConnectedHandle, PostgresError>>?
        var isCancelled = false
    }

    /// Connects, or fails after the configured time.
    ///
    /// A cancelled task stops waiting at once.
    func connect(on loop: EventLoopThread) async throws(PostgresError) -> Wire {
        let waiting = Locked(Waiting())
        let outcome = await withTaskCancellationHandler {
            await withHandover { caller in
                waiting.withLock { $0.caller = caller }
                if waiting.withLock({ $0.isCancelled }) { return self.give(up: waiting) }
                SideThread.start { self.connect(for: waiting) }
            }
        } onCancel: {
            waiting.withLock { $0.isCancelled = true }
            self.give(up: waiting)
        }
        return Wire(try outcome.get(), on: loop, configuration: self.configuration)
    }

    private func give(up waiting: Locked<Waiting>) {
        let caller = waiting.withLock { $0.caller.take() }
        caller?.give(.failure(PostgresError(.cancelled, "the task was cancelled")))
    }

    private func connect(for waiting: Locked<Waiting>) {
        let outcome = self.open()
        if let caller = waiting.withLock({ $0.caller.take() }) {
            return caller.give(outcome)
        }
        if case .success(let handle) = outcome { PQfinish(handle.pointer) }
    }

    private func open() -> Result<ConnectedHandle, PostgresError> {
        let keywords = self.configuration.connectionKeywords(isReadOnly: self.isReadOnly)
        let handle = withCStrings(Array(keywords.keys)) { names in
            withCStrings(Array(keywords.values)) { values in PQconnectdbParams(names, values, 0) }
        }
        guard let handle else { return .failure(PostgresError(.notConnected, "libpq has no memory")) }
        transfa_silence_notices(handle)
        if PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 {
            return .success(ConnectedHandle(pointer: handle))
        }
        let message = String(cString: PQerrorMessage(handle))
        PQfinish(handle)
        let line = message.split(whereSeparator: \.isNewline).joined(separator: "; ")
        return .failure(PostgresError(.notConnected, line))
    }
}

/// Calls `body` with a null-terminated array of C strings.
private func withCStrings<Value>(
    _ strings: [String],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies.map { UnsafePointer($0) } + [nil])
}
