import Contracts

/// What a user chose.
struct UserSettings: Hashable, Sendable {
    /// False: receive only.
    var allowSending = true
    /// Where payments should land.
    var receivingPreference = ReceivingPreference.external
    /// Who may ask for money.
    var whoMayRequest = RequestPolicy.everyone

    /// The settings after a request; what it leaves out stays.
    ///
    /// - Throws: `CustomerError.merchantsOnly`: receive-only is a merchant's profile.
    func applying(_ change: SettingsChange, to type: AccountType?) throws(CustomerError) -> UserSettings {
        var settings = self
        if let allow = change.allowSending {
            guard allow || type == .merchant else { throw .merchantsOnly }
            settings.allowSending = allow
        }
        if let preference = change.receivingPreference { settings.receivingPreference = preference }
        if let policy = change.whoMayRequest { settings.whoMayRequest = policy }
        return settings
    }
}

/// A request to change settings whose fields obey their rules.
struct SettingsChange: Hashable, Sendable {
    let allowSending: Bool?
    let receivingPreference: ReceivingPreference?
    let whoMayRequest: RequestPolicy?

    /// Checks a request.
    init(checking request: SettingsRequest) throws(FieldProblem) {
        self.allowSending = request.allowSending
        self.receivingPreference = try Self.word(
            request.receivingPreference,
            or: FieldProblem(pointer: "/receiving_preference", rule: .receivingPreference)
        )
        self.whoMayRequest = try Self.word(
            request.whoMayRequest,
            or: FieldProblem(pointer: "/who_may_request", rule: .whoMayRequest)
        )
    }

    private static func word<Word: RawRepresentable<String>>(
        _ text: String?,
        or problem: FieldProblem
    ) throws(FieldProblem) -> Word? {
        guard let text else { return nil }
        guard let word = Word(rawValue: text) else { throw problem }
        return word
    }
}
