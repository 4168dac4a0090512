import Contracts
import Foundation
import Primitives
import Sealing

/// Invented people between commands, with what their phones would keep: it opens nothing but a sandbox.
struct PeopleFile {
    let path: String

    private struct Kept: Codable {
        let username: String
        let subject: String
        let pin: String
        let user: UUID
        let account: String
        let device: UUID
        let key: String
    }

    /// The person of this name; nil when none is kept.
    func find(_ name: String) throws(Failure) -> Person? {
        guard let kept = try self.read()[name] else { return nil }
        guard let bytes = Base64URL.decode(kept.key), let key = try? DevicePrivateKey(bytes: bytes) else {
            throw Failure("\(self.path) holds a key of \(name) that is none: remove the file.")
        }
        let person = Person(name: name, username: kept.username, clerkSubject: kept.subject, pin: kept.pin)
        person.userID = kept.user
        person.accountNumber = kept.account
        person.device = (kept.device, key)
        return person
    }

    /// The person of this name, who must be there.
    func require(_ name: String) throws(Failure) -> Person {
        guard let person = try self.find(name) else {
            throw Failure("Nobody is called \(name) in \(self.path): transfactl sandbox person \(name).")
        }
        return person
    }

    /// Keeps somebody who has signed up, has an account and a phone.
    func keep(_ person: Person) throws(Failure) {
        guard let device = person.device, let account = person.accountNumber else {
            throw Failure("\(person.name) has no account or no device yet.")
        }
        var people = try self.read()
        people[person.name] = Kept(
            username: person.username,
            subject: person.clerkSubject,
            pin: person.pin,
            user: try person.knownID,
            account: account,
            device: device.id,
            key: Base64URL.encode(device.key.bytes)
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        guard let data = try? encoder.encode(people) else { throw Failure("\(self.path) could not be encoded.") }
        try self.write(data)
    }

    private func read() throws(Failure) -> [String: Kept] {
        guard let data = FileManager.default.contents(atPath: self.path) else { return [:] }
        do {
            return try JSONDecoder().decode([String: Kept].self, from: data)
        } catch {
            throw Failure("\(self.path) is no file of invented people: remove it, or name another with --people.")
        }
    }

    /// Whole or not at all, and for nobody else to read.
    private func write(_ data: Data) throws(Failure) {
        let aside = "\(self.path).new"
        let owner: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: aside, contents: data, attributes: owner),
            unsafe rename(aside, self.path) == 0
        else { throw Failure("\(self.path) could not be written; --people names another file.") }
    }
}
