import Contracts
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What moved: totals, series, categories, counterparties.
struct InsightsController: Sendable {
    let database: EventDatabase
    let clock: any TimeSource
    let totals: TotalStore
    let categories: CategoryStore
    let counterparties: CounterpartyStore

    private static let defaultCounterparties = 10
    private static let maximumCounterparties = 50

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/analytics/summary") { try await self.summary($0, $1) }
        group.get("/analytics/series") { try await self.series($0, $1) }
        group.get("/analytics/categories") { try await self.categories($0, $1) }
        group.get("/analytics/counterparties") { try await self.counterparties($0, $1) }
    }

    private func summary(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let period = try request.period(now: self.clock.now)
        let totals = try await self.totals.sum(period, of: user, on: self.database)
        return try APIResponse(json: totals.summary(of: period))
    }

    private func series(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let period = try request.period(now: self.clock.now)
        let step = try Self.word(request, "period", orElse: LagosPeriod.Step.day)
        let days = try await self.totals.days(period, of: user, on: self.database)
        return try APIResponse(
            json: AnalyticsSeries(
                period: step.rawValue,
                from: period.from.description,
                to: period.to.description,
                data: try period.series(by: step, of: days)
            )
        )
    }

    private func categories(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let period = try request.period(now: self.clock.now)
        let totals = try await self.categories.totals(period, of: user, on: self.database)
        return try APIResponse(
            json: AnalyticsCategories(
                from: period.from.description,
                to: period.to.description,
                data: totals.map {
                    AnalyticsCategory(category: $0.category, moneyIn: $0.moneyIn.kobo, moneyOut: $0.moneyOut.kobo)
                }
            )
        )
    }

    private func counterparties(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let period = try request.period(now: self.clock.now, atMost: LagosPeriod.maximumDaysOfMovements)
        let flow = try Self.word(request, "direction", orElse: Flow.out)
        let limit = try request.limit(usual: Self.defaultCounterparties, maximum: Self.maximumCounterparties)
        let totals = try await self.counterparties.top(limit, by: flow, period, of: user, on: self.database)
        return try APIResponse(
            json: AnalyticsCounterparties(
                from: period.from.description,
                to: period.to.description,
                direction: flow.rawValue,
                data: totals.map {
                    AnalyticsCounterparty(
                        username: $0.username,
                        moneyIn: $0.moneyIn.kobo,
                        moneyOut: $0.moneyOut.kobo,
                        payments: $0.payments
                    )
                }
            )
        )
    }

    // MARK: Parameters

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ request: Request,
        _ parameter: String,
        orElse word: Word
    ) throws(APIError) -> Word where Word.RawValue == String {
        guard let text = request.uri.queryParameters.get(parameter) else { return word }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid(parameter: parameter, detail: "One of \(words).")
        }
        return word
    }
}
