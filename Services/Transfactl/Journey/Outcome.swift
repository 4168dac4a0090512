import Contracts
import Primitives

/// What was done, against which the books are checked.
struct Outcome {
    let cast: Cast
    let payments: [Payment]
    /// Ada's account at the provider.
    let providerAccount: String
    /// The day in Lagos on which the journey began.
    let firstDay: CivilDate

    /// Kobo that arrived by a route.
    func total(_ route: Payment.Route) -> Int64 {
        self.payments.filter { $0.route == route }.reduce(0) { $0 + $1.response.amount }
    }

    /// Kobo that arrived.
    var total: Int64 { self.payments.reduce(0) { $0 + $1.response.amount } }

    /// Kobo of fees.
    var fees: Int64 { self.payments.reduce(0) { $0 + $1.response.fee } }
}
