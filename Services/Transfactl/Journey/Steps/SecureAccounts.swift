import Contracts
import Primitives
import Sealing

/// Those who pay set a PIN, ada registers her phone.
struct SecureAccounts {
    let stage: Stage
    let cast: Cast

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("PINs, and a device that can approve payments")
        for person in self.cast.everybody {
            let call = try Call.put(.service(.auth), "/pin", PINRequest(pin: person.pin))
            _ = try await self.stage.require(204, from: call, as: person)
        }
        try await self.registerDevice(of: self.cast.ada)
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
