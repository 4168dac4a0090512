import Foundation
import Synchronization

/// Places where a test may end the process as abruptly as SIGKILL would.
///
/// The environment variable `TRANSFA_CRASH_AT` names one: `label`, or `label:3` for the third time it is reached.
/// `label@what` names one thing, such as the id of an event, that the process traps on each time it is met. Release
/// builds contain no trace of it.
public enum CrashPoint {
    /// Ends the process here if this is the place, and the time, that was asked for.
    ///
    /// - Parameter label: the name of the place, a static one.
    public static func reach(_ label: StaticString) {
        #if DEBUG
        guard let wanted = Self.wanted, wanted.label == label.description else { return }
        let times = Self.reached.add(1, ordering: .relaxed).newValue
        if times == wanted.times {
            // 128 + SIGKILL, and no exit handlers: nothing may be flushed that a real crash would lose.
            _exit(137)
        }
        #endif
    }

    /// Traps here if this is the place, and the thing, that was asked for.
    ///
    /// - Parameters:
    ///   - label: the name of the place, a static one.
    ///   - thing: what is dealt with here.
    public static func reach(_ label: StaticString, with thing: @autoclosure () -> String) {
        #if DEBUG
        guard let wanted = Self.wanted, wanted.label.hasPrefix("\(label)@") else { return }
        precondition(wanted.label != "\(label)@\(thing())", "a test asked for a trap at \(wanted.label)")
        #endif
    }

    #if DEBUG
    private static let reached = Atomic<Int>(0)
    private static let wanted = Self.parse(ProcessInfo.processInfo.environment["TRANSFA_CRASH_AT"])
    #endif

    /// Takes `label` or `label:times` apart.
    static func parse(_ text: String?) -> (label: String, times: Int)? {
        guard let text, !text.isEmpty else { return nil }
        guard let colon = text.lastIndex(of: ":"), let times = Int(text[text.index(after: colon)...]), times > 0 else {
            return (text, 1)
        }
        return (String(text[..<colon]), times)
    }
}
