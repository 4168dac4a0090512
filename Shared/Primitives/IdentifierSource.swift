public import Foundation

/// Where new ids come from; injected so that tests can foresee them.
public protocol IdentifierSource: Sendable {
    /// The next id.
    func next() -> UUID
}
