import CLibPQ
import Glibc

/// Owns one `PGresult`, which is cleared when the last row of it goes.
///
/// Sendable although it holds a pointer: libpq allocates a result by itself, keeps no reference to it after
/// `PQgetResult`, and nothing below changes it.
final class PostgresResult: @unchecked Sendable {
    private let pointer: OpaquePointer
    let columns: CInt

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        self.columns = PQnfields(pointer)
    }

    deinit { PQclear(self.pointer) }

    var status: ExecStatusType { PQresultStatus(self.pointer) }

    var rows: [PostgresRow] { (0..<PQntuples(self.pointer)).map { PostgresRow(result: self, index: $0) } }

    /// Rows inserted, changed, deleted or selected.
    var affectedRows: Int { Int(String(cString: PQcmdTuples(self.pointer))) ?? 0 }

    /// What the server says it did: `COMMIT` of a failed transaction says `ROLLBACK`.
    var tag: String { String(cString: PQcmdStatus(self.pointer)) }

    /// The error the server sent.
    ///
    /// Its detail and context, which quote values, are left out.
    var error: PostgresError {
        let sqlState = self.field("C")
        let severity = self.field("V")
        let isLost = severity == "FATAL" || severity == "PANIC" || sqlState == nil
        let message = self.field("M") ?? "the connection was lost"
        let quotesInput = sqlState.map { messagesWithInput.contains($0) } ?? false
        return PostgresError(
            isLost ? .connectionLost : .server,
            quotesInput ? "a value was refused" : message,
            sqlState: sqlState,
            constraint: self.field("n")
        )
    }

    func type(of column: CInt) -> PostgresType { PostgresType(rawValue: PQftype(self.pointer, column)) }

    func name(of column: CInt) -> String { PQfname(self.pointer, column).map { String(cString: $0) } ?? "?" }

    func column(named name: String) -> CInt? {
        (0..<self.columns).first { PQfname(self.pointer, $0).map { strcmp($0, name) == 0 } ?? false }
    }

    func content(_ row: CInt, _ column: CInt) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(self.pointer, row, column) == 0, let start = PQgetvalue(self.pointer, row, column) else {
            return nil
        }
        return UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(self.pointer, row, column)))
    }

    private func field(_ code: Unicode.Scalar) -> String? {
        PQresultErrorField(self.pointer, CInt(code.value)).map { String(cString: $0) }
    }
}

/// SQLSTATEs whose primary message quotes the value: invalid text representation, invalid datetime, datetime overflow,
/// out of range, invalid JSON, character not in repertoire, untranslatable character.
private let messagesWithInput: Set<String> = ["22P02", "22003", "22007", "22008", "22030", "22032", "22021", "22P05"]
