import Contracts
import Primitives
import Sealing

/// Everybody sets a PIN, some register a phone.
struct SecureAccounts {
    let stage: Stage
    let people: [Person]
    /// Those of them who approve payments with a device.
    let owners: [Person]

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("PINs, and a device that can approve payments")
        for person in self.people {
            let call = try Call.put(.service(.auth), "/pin", PINRequest(pin: person.pin))
            _ = try await self.stage.require(204, from: call, as: person)
        }
        for person in self.owners { try await self.registerDevice(of: person) }
    }

    private func registerDevice(of person: Person) async throws(Failure) {
        let key = DevicePrivateKey()
        let order = DeviceRequest(
            name: "Invented phone",
            publicKey: Base64URL.encode(key.publicKey.x963),
            pin: person.pin
        )
        let answer = try await self.stage.require(
            201,
            from: .post(.service(.auth), "/devices", order),
            as: person,
            causing: [DeviceRegistered.type]
        )
        person.device = (try answer.decode(DeviceResource.self).id, key)
    }
}
