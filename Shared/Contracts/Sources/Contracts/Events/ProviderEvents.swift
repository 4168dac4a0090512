import Foundation

/// The provider says that a deposit account is open or has its number.
///
/// Published by notification.
public struct ProviderAccountOpened: EventData {
    /// `provider.account_opened`.
    public static let type: EventType = "provider.account_opened"

    /// The provider's id.
    public var anchorAccountID: String
    /// The provider's id of the customer.
    public var anchorCustomerID: String?

    /// Puts the values together.
    public init(anchorAccountID: String, anchorCustomerID: String? = nil) {
        self.anchorAccountID = anchorAccountID
        self.anchorCustomerID = anchorCustomerID
    }

    private enum CodingKeys: String, CodingKey {
        case anchorAccountID = "anchor_account_id"
        case anchorCustomerID = "anchor_customer_id"
    }
}

/// The provider says how a transfer stands.
///
/// Published by notification.
public struct ProviderTransferUpdated: EventData {
    /// `provider.transfer_updated`.
    public static let type: EventType = "provider.transfer_updated"

    /// The provider's id.
    public var anchorTransferID: String
    /// Our reference, when the message has it.
    public var reference: String?
    /// What the provider says.
    public var status: Open<ProviderTransferStatus>
    /// A code, when it failed.
    public var reason: String?
    /// The provider's event id: the evidence.
    public var providerEventID: String

    /// Puts the values together.
    public init(
        anchorTransferID: String,
        reference: String? = nil,
        status: Open<ProviderTransferStatus>,
        reason: String? = nil,
        providerEventID: String
    ) {
        self.anchorTransferID = anchorTransferID
        self.reference = reference
        self.status = status
        self.reason = reason
        self.providerEventID = providerEventID
    }

    private enum CodingKeys: String, CodingKey {
        case anchorTransferID = "anchor_transfer_id"
        case reference
        case status
        case reason
        case providerEventID = "provider_event_id"
    }
}

/// The provider says that money arrived.
///
/// Published by notification.
public struct ProviderPaymentReceived: EventData {
    /// `provider.payment_received`.
    public static let type: EventType = "provider.payment_received"

    /// The provider's id of the payment.
    public var providerPaymentID: String
    /// The account, when the message names it.
    public var anchorAccountID: String?
    /// Whether value is given.
    public var settled: Bool
    /// The provider's event id.
    public var providerEventID: String

    /// Puts the values together.
    public init(providerPaymentID: String, anchorAccountID: String? = nil, settled: Bool, providerEventID: String) {
        self.providerPaymentID = providerPaymentID
        self.anchorAccountID = anchorAccountID
        self.settled = settled
        self.providerEventID = providerEventID
    }

    private enum CodingKeys: String, CodingKey {
        case providerPaymentID = "provider_payment_id"
        case anchorAccountID = "anchor_account_id"
        case settled
        case providerEventID = "provider_event_id"
    }
}
