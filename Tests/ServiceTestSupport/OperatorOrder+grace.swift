public import Messaging

extension OperatorOrder {
    /// An operator of tests.
    public static let grace = OperatorOrder(name: "grace", reason: "a test")
}
