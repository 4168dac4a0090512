import Foundation
import Primitives

/// Moments and amounts as people read them on paper.
enum LagosTime {
    /// `2026-11-21 10:07:05`, in Lagos.
    static func text(_ moment: Date) -> String {
        let shifted = moment.addingTimeInterval(Double(LagosCalendar.secondsFromUTC))
        return String(Timestamp.text(shifted).prefix(19)).replacing("T", with: " ")
    }
}

extension Money {
    /// Naira with two digits of kobo and nothing else, as spreadsheets read it: `-1234.50`.
    var plainText: String {
        let kobo = self.kobo.magnitude
        let rest = kobo % 100
        return "\(self.kobo < 0 ? "-" : "")\(kobo / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
