import Foundation
import Primitives

/// POST /internal/subscriptions/increment-usage.
struct AdjustmentBody: Decodable {
    let userID: UserID
    /// The caller's own, so that a repeated call counts once.
    let adjustmentID: UUID?
    /// 1 when absent.
    let delta: Int?
    let reason: String

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case adjustmentID = "adjustment_id"
        case delta
        case reason
    }
}

/// The answer to it.
struct AdjustmentResource: Encodable {
    let adjustmentID: String
    let userID: String
    let month: String
    let delta: Int

    init(_ adjustment: Adjustment) {
        self.adjustmentID = adjustment.id.lowercased
        self.userID = adjustment.user.description
        self.month = adjustment.month.text
        self.delta = adjustment.delta
    }

    private enum CodingKeys: String, CodingKey {
        case adjustmentID = "adjustment_id"
        case userID = "user_id"
        case month
        case delta
    }
}

/// POST /internal/subscriptions/activate.
struct ActivationBody: Decodable {
    let userID: UserID
    let plan: String
    /// RFC 3339.
    let until: String
    let reason: String

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case plan
        case until
        case reason
    }
}
