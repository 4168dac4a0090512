import CLibPQ

/// Handing statements to libpq, which copies everything before it returns.
extension SQL {
    /// Fails for what must not be sent.
    func validate() throws(PostgresError) {
        if let problem = self.problem { throw PostgresError(.encoding, problem) }
        guard self.binds.count <= Int(UInt16.max) else {
            throw PostgresError(.encoding, "a statement has at most 65,535 bound values")
        }
        let start = self.text.utf8.drop { $0 <= 32 }.prefix(5)
        if start.count >= 4, String(decoding: start.prefix(4), as: UTF8.self).uppercased() == "COPY" {
            throw PostgresError(.unsupported, "COPY is not supported")
        }
    }

    func prepare(_ handle: OpaquePointer?, as name: String) -> Bool {
        withUnsafeTemporaryAllocation(of: Oid.self, capacity: self.binds.count + 1) { types in
            for (index, bind) in self.binds.enumerated() { types[index] = bind.type.rawValue }
            return PQsendPrepare(handle, name, self.text, CInt(self.binds.count), types.baseAddress) == 1
        }
    }

    func send(_ handle: OpaquePointer?, prepared name: String) -> Bool {
        self.withParameters { values, lengths, formats in
            PQsendQueryPrepared(handle, name, CInt(self.binds.count), values, lengths, formats, 1) == 1
        }
    }

    func sendUnprepared(_ handle: OpaquePointer?) -> Bool {
        withUnsafeTemporaryAllocation(of: Oid.self, capacity: self.binds.count + 1) { types in
            for (index, bind) in self.binds.enumerated() { types[index] = bind.type.rawValue }
            return self.withParameters { values, lengths, formats in
                PQsendQueryParams(
                    handle,
                    self.text,
                    CInt(self.binds.count),
                    types.baseAddress,
                    values,
                    lengths,
                    formats,
                    1
                ) == 1
            }
        }
    }

    private typealias Values = UnsafePointer<UnsafePointer<CChar>?>?

    private func withParameters(_ body: (Values, UnsafePointer<CInt>?, UnsafePointer<CInt>?) -> Bool) -> Bool {
        let count = self.binds.count + 1
        return self.bytes.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                withUnsafeTemporaryAllocation(of: CInt.self, capacity: 2 * count) { numbers in
                    for (index, bind) in self.binds.enumerated() {
                        let start = bind.range.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound) }
                        values.initializeElement(at: index, to: start?.assumingMemoryBound(to: CChar.self))
                        numbers[index] = CInt(bind.range?.count ?? 0)
                        numbers[count + index] = bind.isText ? 0 : 1
                    }
                    let first = UnsafePointer(numbers.baseAddress)
                    return body(UnsafePointer(values.baseAddress), first, first.map { $0 + count })
                }
            }
        }
    }
}
