import Foundation

/// A request to make.
struct Call: Sendable {
    let destination: Destination
    let method: String
    /// With the query, if there is one.
    let path: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    static func get(_ destination: Destination, _ path: String) -> Call {
        Call(destination: destination, method: "GET", path: path)
    }

    static func post(_ destination: Destination, _ path: String, _ body: some Encodable) throws(Failure) -> Call {
        Call(destination: destination, method: "POST", path: path, body: try Self.json(body))
    }

    static func put(_ destination: Destination, _ path: String, _ body: some Encodable) throws(Failure) -> Call {
        Call(destination: destination, method: "PUT", path: path, body: try Self.json(body))
    }

    /// The request line as people read it.
    var line: String { "\(self.method) \(self.destination.name) \(self.path)" }

    func adding(_ name: String, _ value: String) -> Call {
        var call = self
        call.headers.append((name, value))
        return call
    }

    private static func json(_ value: some Encodable) throws(Failure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { throw Failure("A request body could not be encoded.") }
        return Array(data)
    }
}
