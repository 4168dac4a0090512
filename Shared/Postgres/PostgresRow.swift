import CLibPQ

/// One row of an answer.
///
/// It keeps the whole answer in memory; decode it and let it go.
public struct PostgresRow: Sendable {
    let result: PostgresResult
    let index: CInt

    /// Decodes the columns from the first on, in their order.
    ///
    /// There may be more columns than types.
    ///
    /// - Throws: `PostgresError` with the code `decoding`; it names the column and never holds its value.
    public func decode<each Value: PostgresDecodable>(
        _ types: repeat (each Value).Type,
        file: String = #fileID,
        line: Int = #line
    ) throws(PostgresError) -> (repeat each Value) {
        var column: CInt = 0
        do throws(PostgresError) {
            return (repeat try self.next(each types, &column))
        } catch {
            throw error.at(file, line)
        }
    }

    /// Decodes the first column.
    ///
    /// - Throws: `PostgresError` with the code `decoding`; it names the column and never holds its value.
    public func decode<Value: PostgresDecodable>(
        _ type: Value.Type,
        file: String = #fileID,
        line: Int = #line
    ) throws(PostgresError) -> Value {
        var column: CInt = 0
        do throws(PostgresError) { return try self.next(type, &column) } catch { throw error.at(file, line) }
    }

    /// Decodes one column by its name.
    ///
    /// - Throws: `PostgresError` with the code `decoding`.
    public func decode<Value: PostgresDecodable>(
        _ type: Value.Type = Value.self,
        column name: String,
        file: String = #fileID,
        line: Int = #line
    ) throws(PostgresError) -> Value {
        do throws(PostgresError) { return try type.decodePostgres(try self.cell(name)) } catch {
            throw error.at(file, line)
        }
    }

    /// The cell of the first column with that name.
    public subscript(name: String) -> PostgresCell {
        get throws(PostgresError) { try self.cell(name) }
    }

    /// The number of columns.
    public var count: Int { Int(self.result.columns) }

    private func next<Value: PostgresDecodable>(
        _ type: Value.Type,
        _ column: inout CInt
    ) throws(PostgresError) -> Value {
        guard column < self.result.columns else {
            throw PostgresError(.decoding, "the row has only \(self.result.columns) columns")
        }
        defer { column += 1 }
        return try type.decodePostgres(PostgresCell(result: self.result, row: self.index, column: column))
    }

    private func cell(_ name: String) throws(PostgresError) -> PostgresCell {
        guard let column = self.result.column(named: name) else {
            throw PostgresError(.decoding, "the row has no column \(name)")
        }
        return PostgresCell(result: self.result, row: self.index, column: column)
    }
}

/// One value of a row, not decoded yet.
public struct PostgresCell: Sendable {
    private let result: PostgresResult
    private let column: CInt
    /// The type the server sent.
    public let type: PostgresType
    // Points into `result`, which lives as long as this value and never changes.
    nonisolated(unsafe) private let content: UnsafeRawBufferPointer?

    init(result: PostgresResult, row: CInt, column: CInt) {
        self.result = result
        self.column = column
        self.type = result.type(of: column)
        self.content = result.content(row, column)
    }

    private init(_ cell: PostgresCell, type: PostgresType, content: UnsafeRawBufferPointer?) {
        self.result = cell.result
        self.column = cell.column
        self.type = type
        self.content = content
    }

    /// Whether the value is null.
    public var isNull: Bool { self.content == nil }

    /// Decodes the value.
    ///
    /// - Throws: `PostgresError` with the code `decoding`.
    public func decode<Value: PostgresDecodable>(_ type: Value.Type = Value.self) throws(PostgresError) -> Value {
        try type.decodePostgres(self)
    }

    /// An error for a value that cannot be what was asked for.
    ///
    /// Say what is wrong without the value.
    public func failure(_ problem: String) -> PostgresError {
        PostgresError(.decoding, "column \(self.result.name(of: self.column)) \(problem)")
    }

    func mismatch<Value>(_ type: Value.Type) -> PostgresError {
        self.failure(self.isNull ? "is null" : "has type \(self.type.rawValue), which is no \(type)")
    }

    func element(type: PostgresType, _ content: UnsafeRawBufferPointer?) -> PostgresCell {
        PostgresCell(self, type: type, content: content)
    }

    func bytes() throws(PostgresError) -> UnsafeRawBufferPointer {
        guard let content = self.content else { throw self.failure("is null") }
        return content
    }

    func bytes(count: Int) throws(PostgresError) -> UnsafeRawBufferPointer {
        let bytes = try self.bytes()
        guard bytes.count == count else { throw self.failure("has \(bytes.count) bytes instead of \(count)") }
        return bytes
    }

    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(PostgresError) -> Integer {
        Integer(bigEndian: try self.bytes(count: MemoryLayout<Integer>.size).loadUnaligned(as: type))
    }

    func loadInt32(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
        Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
    }
}
