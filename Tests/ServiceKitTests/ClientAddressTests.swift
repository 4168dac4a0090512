import HTTPTypes
import Testing

@testable import ServiceKit

@Suite("the address of a client")
struct ClientAddressTests {
    @Test(
        "the forms of one address are equal",
        arguments: [
            [
                "192.0.2.1", " 192.0.2.1 ", "192.0.2.1:8080", "::ffff:192.0.2.1", "::FFFF:c000:201",
                "[::ffff:192.0.2.1]:80",
            ],
            [
                "2001:db8::1", "2001:0db8:0:0:0:0:0:1", "2001:DB8::0001", "[2001:db8::1]", "[2001:db8::1]:443",
                "2001:db8::1%eth0",
            ],
            ["::1", "0:0:0:0:0:0:0:1"], ["::", "0::0"], ["1::", "1:0:0:0:0:0:0:0"],
        ]
    )
    func forms(texts: [String]) throws {
        let addresses = try texts.map { try #require(ClientAddress(text: $0), "\($0)") }
        #expect(Set(addresses).count == 1)
    }

    @Test(
        "anything else is no address",
        arguments: [
            "", "unknown", "_hidden", "192.0.2", "192.0.2.1.1", "192.0.2.256", "192.0.02.1", "1.2.3.+4", ":", ":::",
            "1::2::3",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "1.2.3.4::", "::1.2.3", "1:2:3:4:5:6:7:1.2.3.4",
            "٣.1.1.1",
        ]
    )
    func none(text: String) {
        #expect(ClientAddress(text: text) == nil)
    }

    private func client(of peer: String, _ forwarded: [String], trusting trusted: String) throws -> ClientAddress? {
        let proxies = try TrustedProxies(SettingsReader(["TRUSTED_PROXIES": trusted]))
        var headers = HTTPFields()
        for value in forwarded { headers.append(HTTPField(name: .xForwardedFor, value: value)) }
        return proxies.client(peer: ClientAddress(text: peer), headers: headers)
    }

    @Test("strangers are not believed")
    func strangers() throws {
        #expect(try self.client(of: "198.51.100.7", ["192.0.2.1"], trusting: "") == ClientAddress(text: "198.51.100.7"))
        let other = try self.client(of: "198.51.100.7", ["192.0.2.1"], trusting: "10.0.0.0/8")
        #expect(other == ClientAddress(text: "198.51.100.7"))
    }

    @Test(
        "behind trusted proxies the client is the last address that is not one of them",
        arguments: [
            (["192.0.2.1"], "192.0.2.1"),
            // What the client wrote itself comes first and means nothing.
            (["127.0.0.1, 203.0.113.9, 192.0.2.1"], "192.0.2.1"),
            (["203.0.113.9", "192.0.2.1, 10.1.2.3"], "192.0.2.1"),
            (["192.0.2.1, 10.1.2.3", "fd00::5"], "192.0.2.1"),
            (["2001:db8::1"], "2001:db8::1"),
            // Nobody but proxies: the farthest of them.
            (["10.9.9.9, 10.1.2.3"], "10.9.9.9"),
            // Not written by a proxy: as near as we get.
            (["192.0.2.1, unknown"], "10.0.0.1"), (["192.0.2.1, unknown, 10.1.2.3"], "10.1.2.3"),
            ([], "10.0.0.1"),
        ]
    )
    func proxies(forwarded: [String], client: String) throws {
        let found = try self.client(of: "10.0.0.1", forwarded, trusting: "10.0.0.0/8, fd00::/8")
        #expect(found == ClientAddress(text: client))
    }

    @Test("a network is as wide as its prefix says, an address alone is itself")
    func networks() throws {
        for (trusted, peer, isTrusted) in [
            ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/31", "10.0.0.1", true),
            ("10.0.0.0/31", "10.0.0.2", false), ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false),
            ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("2001:db8::/33", "2001:db8:7fff::", true),
            ("2001:db8::/33", "2001:db8:8000::", false), ("2001:db8::/65", "2001:db8:0:0:7fff::", true),
            ("2001:db8::/65", "2001:db8:0:0:8000::", false), ("::/0", "10.0.0.1", true),
        ] {
            let proxies = try TrustedProxies(SettingsReader(["TRUSTED_PROXIES": trusted]))
            let address = try #require(ClientAddress(text: peer))
            #expect(proxies.contains(address) == isTrusted, "\(trusted) \(peer)")
        }
    }

    @Test(
        "a list with anything else in it stops the start",
        arguments: ["x", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "::/129"]
    )
    func badNetworks(text: String) {
        let problem = #expect(throws: ConfigurationProblem.self) {
            try TrustedProxies(SettingsReader(["TRUSTED_PROXIES": "10.0.0.1,\(text)"]))
        }
        #expect(problem?.variable == "TRUSTED_PROXIES")
    }
}
