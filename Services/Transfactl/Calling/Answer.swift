import Foundation

/// What came back.
struct Answer: Sendable {
    let status: Int
    /// Names the request in logs and events.
    let requestID: UUID?
    let isReplay: Bool
    let body: [UInt8]
    /// The request line, for messages.
    let line: String

    /// Reads the body.
    func decode<Value: Decodable>(_ type: Value.Type) throws(Failure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(self.body))
        } catch {
            throw Failure("\(self.line) answered \(self.status) with a body that is not a \(type).")
        }
    }

    /// The code of the first error, or nothing.
    var errorCode: String? {
        (try? JSONDecoder().decode(ErrorCodes.self, from: Data(self.body)))?.errors.first?.code
    }

    private struct ErrorCodes: Decodable {
        struct Entry: Decodable {
            let code: String
        }

        let errors: [Entry]
    }
}
