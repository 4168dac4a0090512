public import Foundation
public import Hummingbird
public import Primitives

extension LagosPeriod {
    /// The names of the query's parameters.
    public static let parameters = ["from", "to"]
}

extension Request {
    /// The parameters `from` and `to`: days in Lagos, both included; without them the month so far.
    ///
    /// - Throws: 400 `invalid_parameter`.
    public func period(now: Date, atMost days: Int = LagosPeriod.maximumDays) throws(APIError) -> LagosPeriod {
        let query = self.uri.queryParameters
        do throws(LagosPeriodProblem) {
            return try LagosPeriod(from: query.get("from"), to: query.get("to"), now: now, atMost: days)
        } catch {
            switch error {
            case .from: throw .invalid(parameter: "from", detail: "A day is written yyyy-MM-dd.")
            case .to: throw .invalid(parameter: "to", detail: "A day is written yyyy-MM-dd.")
            case .order: throw .invalid(parameter: "to", detail: "The last day comes before the first.")
            case .length(let days): throw .invalid(parameter: "from", detail: "At most \(days) days can be asked for.")
            }
        }
    }
}
