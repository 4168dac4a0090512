/// What goes wrong with a request.
enum Fault: Sendable, Hashable {
    /// Handled after a pause.
    case delay(Int64)
    /// Not handled; answered with the status, in these words.
    case status(Int, saying: String? = nil)
    /// Handled; answered with the status, in these words.
    case statusAfter(Int, saying: String? = nil)
    /// Not handled; the connection is closed.
    case dropBefore
    /// Handled; the connection is closed without an answer.
    case dropAfter
    /// The connection is closed, and the transfer is taken only after the time.
    case lateCommit(Int64)

    /// Reads `delay=500`, `status=503`, `status-after=500`, `drop-before`, `drop-after`, `late-commit=3000`.
    ///
    /// A status may be followed by the words of the answer: `status=409:Transfer already exists`.
    init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1)
        let values = parts.count == 2 ? parts[1].split(separator: ":", maxSplits: 1) : []
        let number = values.first.flatMap { Int64($0) }
        let words = values.count == 2 ? String(values[1]) : nil
        switch (parts.first, number) {
        case ("delay", .some(let time)): self = .delay(max(0, time))
        case ("status", .some(let status)) where (400...599).contains(status):
            self = .status(Int(status), saying: words)
        case ("status-after", .some(let status)) where (400...599).contains(status):
            self = .statusAfter(Int(status), saying: words)
        case ("drop-before", nil): self = .dropBefore
        case ("drop-after", nil): self = .dropAfter
        case ("late-commit", .some(let time)): self = .lateCommit(max(0, time))
        default: return nil
        }
    }
}

/// A fault for the requests that match.
struct FaultRule: Sendable {
    var id: Int
    var method: String?
    var path: String?
    var bodyContains: String?
    var fault: Fault
    var text: String
    /// How many more requests it meets.
    var remaining: Int64

    var json: JSON {
        [
            "id": .integer(Int64(self.id)), "method": JSON(self.method), "path": JSON(self.path),
            "body_contains": JSON(self.bodyContains), "fault": .string(self.text),
            "remaining": .integer(self.remaining),
        ]
    }

    func matches(method: String, path: String, body: String) -> Bool {
        (self.method.map { $0 == method } ?? true) && (self.path.map { path.hasPrefix($0) } ?? true)
            && (self.bodyContains.map { body.contains($0) } ?? true)
    }
}
