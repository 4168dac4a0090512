import ServiceKit

/// What transaction is told beyond what every service is.
struct TransactionConfiguration: Sendable {
    let anchorURL: String
    let anchorKey: String
    /// The provider's account that holds the money of drops.
    let poolAccount: String
    /// What links of drops and payment requests begin with.
    let linkBase: String
    /// Whose account the provider debits for its service.
    let billing: ProviderBilling

    static let anchorURLSetting = SettingKey(
        "ANCHOR_BASE_URL",
        .url(["http", "https"]),
        class: .address,
        "the provider's API"
    )

    static let poolAccountSetting = SettingKey(
        "ANCHOR_POOL_ACCOUNT_ID",
        .text,
        class: .plain,
        "the deposit account at the provider that holds money drops"
    )

    static let billsSetting = SettingKey(
        "ANCHOR_BILLS",
        .word(["none", "customers", "organisation"]),
        default: "none",
        "whose account the provider debits for its service; those bills are read and booked"
    )

    static let feeAccountSetting = SettingKey(
        "ANCHOR_FEE_ACCOUNT_ID",
        .text,
        class: .plain,
        optional: true,
        "the organisation's deposit account that the provider debits; needed when ANCHOR_BILLS is organisation"
    )

    /// All settings of transaction's own.
    static let keys =
        [Self.anchorURLSetting, .anchorKey, Self.poolAccountSetting, .publicLink]
        + [Self.billsSetting, Self.feeAccountSetting] + ImageStoreSettings.keys

    /// Reads them.
    init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.anchorURL = try reader.text(Self.anchorURLSetting)
        self.anchorKey = try reader.secrets(.anchorKey).current
        self.poolAccount = try reader.text(Self.poolAccountSetting)
        self.linkBase = try reader.text(.publicLink)
        self.billing = try Self.billing(reader)
    }

    private static func billing(_ reader: SettingsReader) throws(ConfigurationProblem) -> ProviderBilling {
        let account = try reader.optionalText(Self.feeAccountSetting)
        guard let payer = ProviderBilling.Payer(rawValue: try reader.text(Self.billsSetting)) else {
            throw SettingsReader.problem(Self.billsSetting, "not one of its words")
        }
        guard payer != .organisation || account != nil else {
            throw SettingsReader.problem(Self.feeAccountSetting, "not set")
        }
        return payer == .nobody ? .nobody : ProviderBilling(payer: payer, account: account)
    }
}
