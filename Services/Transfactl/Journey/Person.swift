import Foundation
import Sealing

/// Somebody invented: on the journey new on every run.
final class Person {
    let name: String
    let username: String
    let clerkSubject: String
    let pin: String

    /// Known once signed up.
    var userID: UUID?
    /// The key of their phone, once it is registered.
    var device: (id: UUID, key: DevicePrivateKey)?
    /// The account to which money for the wallet is sent.
    var accountNumber: String?
    /// The session token and when it was got.
    var token: (text: String, since: ContinuousClock.Instant)?

    init(name: String, username: String, clerkSubject: String, pin: String) {
        self.name = name
        self.username = username
        self.clerkSubject = clerkSubject
        self.pin = pin
    }

    convenience init(name: String, run: RunNumber, pin: String) {
        self.init(
            name: name,
            username: "\(name)\(run.text)",
            clerkSubject: "user_journey_\(name)_\(run.text)",
            pin: pin
        )
    }

    /// The id, which there is from sign-up on.
    var knownID: UUID {
        get throws(Failure) {
            guard let id = self.userID else { throw Failure("\(self.name) has not signed up.") }
            return id
        }
    }
}
