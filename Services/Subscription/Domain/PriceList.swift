import Foundation
import Primitives

/// What plans cost a month, by date: of a plan's prices the newest counts whose day has begun in Lagos.
struct PriceList: Hashable, Sendable {
    private struct Price: Hashable, Sendable {
        let plan: Plan
        let from: CivilDate
        /// Zero: the plan is not sold from that day on.
        let amount: Money
    }

    private let prices: [Price]

    /// Kobo; a million naira is more than any plan costs, so more is a mistake.
    static let range: ClosedRange<Int64> = 0...100_000_000

    /// Reads entries `<plan>:<yyyy-mm-dd>:<kobo>`.
    init(entries: [String]) throws(PriceListProblem) {
        var prices: [Price] = []
        for entry in entries {
            let parts = entry.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3, let plan = try? Plan(paid: parts[0]), let from = CivilDate(text: parts[1]),
                let kobo = Int64(parts[2]), Self.range.contains(kobo)
            else { throw .malformed }
            guard !prices.contains(where: { $0.plan == plan && $0.from == from }) else { throw .twice }
            prices.append(Price(plan: plan, from: from, amount: Money(kobo: kobo)))
        }
        guard !prices.isEmpty else { throw .empty }
        self.prices = prices
    }

    /// The price of a plan at a moment; nil when it is not sold then.
    func price(of plan: Plan, at moment: Date) -> Money? {
        let day = LagosCalendar.day(of: moment)
        let newest = self.prices.filter { $0.plan == plan && $0.from <= day }.max { $0.from < $1.from }
        guard let newest, newest.amount.isPositive else { return nil }
        return newest.amount
    }

    /// What is sold at a moment, the cheapest first.
    func sold(at moment: Date) -> [(plan: Plan, price: Money)] {
        Set(self.prices.map(\.plan)).compactMap { plan in
            self.price(of: plan, at: moment).map { (plan: plan, price: $0) }
        }.sorted { ($0.price.kobo, $0.plan.name) < ($1.price.kobo, $1.plan.name) }
    }
}

/// Why a price list makes no sense.
enum PriceListProblem: Error, Hashable, CaseIterable {
    case malformed
    case twice
    case empty

    /// For the one line with which the start stops.
    var sentence: String {
        switch self {
        case .malformed: "entries must be <plan>:<yyyy-mm-dd>:<kobo>, of a plan other than free"
        case .twice: "a plan must not have two prices from one day"
        case .empty: "must name a price"
        }
    }
}
