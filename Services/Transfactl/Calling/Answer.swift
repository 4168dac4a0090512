import Foundation

/// What came back.
struct Answer: Sendable {
    let status: Int
    /// Names the request in logs and events.
    let requestID: UUID?
    let isReplay: Bool
    let body: [UInt8]
    /// Where the next part begins, when it is not in the body.
    var nextCursor: String?
    /// The request line, for messages.
    let line: String

    /// The answer itself, when it has the status that is wanted.
    func expecting(_ wanted: Int = 200) throws(Failure) -> Answer {
        guard self.status == wanted else { throw self.refusal }
        return self
    }

    /// The answer as a reason to stop.
    var refusal: Failure {
        let code = self.errorCode.map { " (\($0))" } ?? ""
        return Failure("\(self.line) was answered \(self.status)\(code).")
    }

    /// Reads the body.
    func decode<Value: Decodable>(_ type: Value.Type) throws(Failure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(self.body))
        } catch {
            throw Failure("\(self.line) answered \(self.status) with a body that is not a \(type).")
        }
    }

    /// Whether there is no such thing; a route that does not exist is another 404.
    var isAboutNothing: Bool {
        self.status == 404 && (self.errorCode == "not_found" || self.errorCode == "user_not_found")
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
