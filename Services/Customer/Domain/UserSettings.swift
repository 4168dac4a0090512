import Contracts

/// What a user chose.
struct UserSettings: Hashable, Sendable {
    /// False: receive only.
    var allowSending = true
    /// Where payments should land.
    var receivingPreference = ReceivingPreference.external

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
        return settings
    }
}

/// A request to change settings whose fields obey their rules.
struct SettingsChange: Hashable, Sendable {
    let allowSending: Bool?
    let receivingPreference: ReceivingPreference?

    /// Checks a request.
    init(checking request: SettingsRequest) throws(FieldProblem) {
        self.allowSending = request.allowSending
        guard let word = request.receivingPreference else {
            self.receivingPreference = nil
            return
        }
        guard let preference = ReceivingPreference(rawValue: word) else {
            throw FieldProblem(pointer: "/receiving_preference", rule: .receivingPreference)
        }
        self.receivingPreference = preference
    }
}
