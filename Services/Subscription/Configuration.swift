import Primitives
import ServiceKit

/// What subscription is told beyond what every service is.
struct SubscriptionConfiguration: Sendable {
    let terms: Terms

    static let pricesSetting = SettingKey(
        "SUBSCRIPTION_PRICES",
        .list,
        class: .plain,
        default: "plus:2026-01-01:150000",
        "prices of plans, each <plan>:<first day in Lagos>:<kobo a month>; 0 kobo: no longer sold"
    )
    static let graceSetting = SettingKey(
        "SUBSCRIPTION_GRACE_DAYS",
        .integer(1...30),
        default: "3",
        "how long a plan stays active when its renewal cannot be paid"
    )
    static let retrySetting = SettingKey(
        "SUBSCRIPTION_RETRY_HOURS",
        .integer(1...168),
        default: "12",
        "between two attempts at a renewal"
    )

    /// All settings of subscription's own.
    static let keys = [Self.pricesSetting, Self.graceSetting, Self.retrySetting]

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        let entries = try reader.list(Self.pricesSetting)
        let prices: PriceList
        do throws(PriceListProblem) {
            prices = try PriceList(entries: entries)
        } catch {
            throw SettingsReader.problem(Self.pricesSetting, error.sentence)
        }
        self.terms = Terms(
            prices: prices,
            grace: .seconds(try reader.integer(Self.graceSetting) * 86_400),
            retryPause: .seconds(try reader.integer(Self.retrySetting) * 3600)
        )
    }
}
