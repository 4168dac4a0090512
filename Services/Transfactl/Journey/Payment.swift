import Contracts
import Foundation

/// A payment that was accepted.
struct Payment {
    enum Route: String {
        case external
        case `internal`
    }

    let answer: Answer
    let response: P2PResponse

    var route: Route? { Route(rawValue: self.response.route) }
}
