import Foundation
import Primitives

/// The main job, from sign-up to settled payments.
struct Journey {
    /// Kobo that ada gets by bank transfer.
    static let funding: Int64 = 1_000_000
    /// Kobo of each payment: seven stay far below what a new device may send on its first day.
    static let amount: Int64 = 10_000
    static let payments = 7
    /// Payments into the bank that a person on the free plan may receive in a month.
    static let freeSlots = 5

    let stage: Stage

    func run() async throws(Failure) {
        let today = LagosCalendar.day(of: Date())
        let cast = Cast(run: RunNumber())
        try await SignUp(stage: self.stage, people: cast.everybody, details: cast.signUp)()
        try await AwaitWallets(stage: self.stage, people: cast.everybody)()
        try await SecureAccounts(stage: self.stage, people: cast.everybody, owners: [cast.ada])()
        let account = try await FundWallet(stage: self.stage, person: cast.ada, amount: Self.funding)()
        try await AddBankAccount(stage: self.stage, cast: cast)()
        try await RefusedPayments(stage: self.stage, cast: cast)()
        let payments = try await PaySevenTimes(stage: self.stage, cast: cast)()
        try await AwaitSettlement(stage: self.stage, cast: cast, payments: payments)()
        let outcome = Outcome(cast: cast, payments: payments, providerAccount: account, firstDay: today)
        try await CheckOurBooks(stage: self.stage, outcome: outcome)()
        try await CheckProvider(stage: self.stage, outcome: outcome)()
    }
}
