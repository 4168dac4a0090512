import Foundation

/// Shows on standard error how far something is: a bar in a terminal, now and then a line elsewhere.
final class ProgressBar {
    private static let width = 30
    private static let linesApart = 10

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var lastTenth = -1

    /// The part that is done, and some words.
    func show(_ done: Int, of planned: Int, _ words: String) {
        let part = planned == 0 ? 1 : min(1, Double(done) / Double(planned))
        guard self.isTerminal else {
            let tenth = Int(part * Double(Self.linesApart))
            guard tenth != self.lastTenth else { return }
            self.lastTenth = tenth
            return Self.write("\(done) of \(planned) \(words)\n")
        }
        let full = Int(part * Double(Self.width))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.width - full)
        Self.write("\r[\(bar)] \(Int(part * 100))%  \(done) of \(planned) \(words)\u{1b}[K")
    }

    /// Ends the line of the bar.
    func end() {
        if self.isTerminal { Self.write("\n") }
    }

    private static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
