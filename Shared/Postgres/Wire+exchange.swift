import CLibPQ
import Synchronization

/// Sending segments and reading their answers.
extension Wire {
    // MARK: Sending

    /// Puts a segment into libpq's output buffer.
    func post(_ segment: Segment) throws(PostgresError) {
        switch segment.kind {
        case .simple(let text): try self.postSimple(segment, text)
        case .pipelined(let statements):
            if segment.outcome.failure == nil {
                self.postDeallocations()
                for (index, statement) in statements.enumerated() where segment.outcome.failure == nil {
                    self.post(statement, index, of: segment)
                }
            }
            guard PQpipelineSync(self.handle) == 1 else {
                throw PostgresError(.connectionLost, "the connection to the server was lost")
            }
            self.expected.append(.sync)
        }
    }

    private func post(_ statement: SQL, _ index: Int, of segment: Segment) {
        let isSent: Bool
        switch self.cache.use(statement.text) {
        case .named(let name): isSent = statement.send(self.handle, prepared: name)
        case .unnamed: isSent = statement.sendUnprepared(self.handle)
        case .prepare(let name):
            guard statement.prepare(self.handle, as: name) else {
                self.cache.forget(statement.text)
                return segment.fail(self.sendError, at: index)
            }
            self.expected.append(.prepared(text: statement.text))
            isSent = statement.send(self.handle, prepared: name)
        }
        guard isSent else { return segment.fail(self.sendError, at: index) }
        self.expected.append(.executed(index: index, text: statement.text))
    }

    private var sendError: PostgresError {
        PQstatus(self.handle) == CONNECTION_BAD
            ? PostgresError(.connectionLost, "the connection to the server was lost")
            : PostgresError(.encoding, "libpq refused the statement")
    }

    /// Deallocates in a segment of its own, and only between transactions: a failure must harm nobody.
    private func postDeallocations() {
        guard !self.cache.discarded.isEmpty, self.underWay.count == 1 else { return }
        guard PQtransactionStatus(self.handle) == PQTRANS_IDLE else { return }
        for name in self.cache.takeDiscarded() {
            guard PQsendQueryParams(self.handle, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 1) == 1 else { continue }
            self.expected.append(.deallocated)
            guard PQpipelineSync(self.handle) == 1 else { continue }
            self.expected.append(.deallocationSync)
        }
    }

    private func postSimple(_ segment: Segment, _ text: String) throws(PostgresError) {
        guard segment.outcome.failure == nil else { return self.finishOldest() }
        guard PQexitPipelineMode(self.handle) == 1, PQsendQuery(self.handle, text) == 1 else {
            throw self.sendError
        }
    }

    // MARK: Receiving

    /// Reads every answer that has arrived.
    func receive() throws(PostgresError) {
        while let segment = self.underWay.first, PQisBusy(self.handle) == 0 {
            if segment.isSimple {
                try self.receiveSimple(segment)
            } else if try !self.receivePipelined(segment) {
                return
            }
        }
    }

    /// Reads one piece of an answer; false when there is none.
    private func receivePipelined(_ segment: Segment) throws(PostgresError) -> Bool {
        guard let item = self.expected.first else { return false }
        guard let raw = PQgetResult(self.handle) else {
            // The end of one statement's results.
            guard self.hasResult else { return false }
            self.hasResult = false
            self.expected.removeFirst()
            return true
        }
        self.hasResult = true
        let result = PostgresResult(raw)
        switch item {
        case .sync, .deallocationSync:
            // An answer must never reach another caller. A server that stops, or whose backend is ended, just after a statement
            // says so here; that, and answers out of step, end the connection.
            guard result.status == PGRES_PIPELINE_SYNC else {
                throw PostgresError(
                    .connectionLost,
                    "the connection ended in a pipeline",
                    sqlState: result.error.sqlState
                )
            }
            self.hasResult = false
            self.expected.removeFirst()
            guard case .sync = item else { return true }
            segment.outcome.isIdle = PQtransactionStatus(self.handle) == PQTRANS_IDLE
            self.finishOldest()
        case .deallocated: break
        case .prepared(let text): try self.takePrepared(result, text, segment)
        case .executed(let index, let text): try self.takeExecuted(result, index, text, segment)
        }
        return true
    }

    private func takePrepared(
        _ result: PostgresResult,
        _ text: String,
        _ segment: Segment
    ) throws(PostgresError) {
        if result.status == PGRES_COMMAND_OK { return self.cache.confirm(text) }
        self.cache.forget(text)
        guard result.status == PGRES_FATAL_ERROR else { return }
        try self.takeError(result, self.expectedIndex, segment)
    }

    /// The statement that the item after the one at the front belongs to.
    private var expectedIndex: Int? {
        guard case .executed(let index, _)? = self.expected.second else { return nil }
        return index
    }

    private func takeExecuted(
        _ result: PostgresResult,
        _ index: Int,
        _ text: String,
        _ segment: Segment
    ) throws(PostgresError) {
        switch result.status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            segment.outcome.results.append(result)
        case PGRES_PIPELINE_ABORTED: break
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            // libpq cannot leave this state within a pipeline: the connection is given up.
            segment.fail(PostgresError(.unsupported, "COPY is not supported"), at: index)
            throw PostgresError(.connectionLost, "the connection was given up after a COPY")
        default:
            try self.takeError(result, index, segment)
            // The statement is gone, or its plan does not fit the changed tables: the next use prepares it again.
            if segment.outcome.failure?.sqlState == "26000" { self.cache.forget(text) }
            if segment.outcome.failure?.sqlState == "0A000" { self.cache.discard(text) }
        }
    }

    private func takeError(_ result: PostgresResult, _ index: Int?, _ segment: Segment) throws(PostgresError) {
        let error = result.error
        segment.fail(error, at: index)
        if error.code == .connectionLost { throw error }
    }

    private func receiveSimple(_ segment: Segment) throws(PostgresError) {
        guard let raw = PQgetResult(self.handle) else {
            segment.outcome.isIdle = PQtransactionStatus(self.handle) == PQTRANS_IDLE
            guard PQenterPipelineMode(self.handle) == 1 else { throw self.sendError }
            return self.finishOldest()
        }
        let result = PostgresResult(raw)
        switch result.status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            segment.fail(PostgresError(.unsupported, "COPY is not supported"))
            throw PostgresError(.connectionLost, "the connection was given up after a COPY")
        default: try self.takeError(result, nil, segment)
        }
    }

    private func finishOldest() {
        // First: a caller that has its answer may send the next statement.
        self.unanswered.subtract(1, ordering: .relaxed)
        self.underWay.first?.finish()
        self.underWay.removeFirst()
    }
}
