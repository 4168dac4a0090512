import Foundation
import Primitives

/// On which terms plans are sold.
struct Terms: Sendable {
    let prices: PriceList
    /// How long a plan stays active when its renewal cannot be paid.
    let grace: Duration
    /// Between two attempts at a renewal.
    let retryPause: Duration
}
