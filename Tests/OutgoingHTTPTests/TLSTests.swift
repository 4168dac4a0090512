import Foundation
import OutgoingHTTP
import TestSupport
import Testing

@Suite("TLS and HTTP/2")
struct TLSTests {
    @Test("who is who they should be is spoken to, and nobody else: not one request reaches them")
    func verified() async throws {
        try await SecureServers.with { servers in
            try await withHTTP(.trusting(servers.trusted)) { http async throws in
                #expect(try await http.send(order(servers.url("good")), within: plenty).status == 200)
                // A certificate may be for an address too.
                #expect(
                    try await http.send(order(servers.url("good", host: "127.0.0.1")), within: plenty).status == 200
                )
                for server in ["wrong host", "expired", "stranger", "self-signed"] {
                    let failure = await http.failure(order(servers.url(server)))
                    #expect(failure == HTTPFailure(reason: .untrusted, isUnsent: true), "\(server)")
                    #expect(try await servers.requests(server) == 0)
                }
            }
            // Without a file it is the system that says whom to trust.
            try await withHTTP(.trusting(nil)) { http async throws in
                let failure = await http.failure(order(servers.url("good")))
                #expect(failure == HTTPFailure(reason: .untrusted, isUnsent: true))
            }
            // A file that is not there trusts nobody.
            try await withHTTP(.trusting("/nowhere.pem")) { http async throws in
                let failure = await http.failure(order(servers.url("good")))
                #expect(failure == HTTPFailure(reason: .untrusted, isUnsent: true))
            }
            #expect(try await servers.requests("good") == 2)
        }
    }

    @Test("who speaks no TLS was not sent anything, nor who says nothing at all")
    func noTLS() async throws {
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            try await withHTTP { http async throws in
                let failure = await http.failure(order("https://localhost:\(server.port)/"))
                // What it makes of the first bytes of TLS is up to it.
                #expect(failure?.isUnsent == true && [.untrusted, .unreachable].contains(failure?.reason))
                #expect(server.requests.isEmpty)
            }
        }
        try await RudeServer.with(Manners { $0.awaitEnd() }) { server in
            try await withHTTP(.with { $0.connectTimeout = .milliseconds(300) }) { http async throws in
                let failure = await http.failure(order("https://localhost:\(server.port)/"))
                #expect(failure == HTTPFailure(reason: .unreachable, isUnsent: true))
            }
        }
    }

    @Test("an authority that is taken out of the file is trusted no longer, by new connections")
    func takenOut() async throws {
        try await SecureServers.with { servers in
            let file = "\(Scratch.directory)/trusted-\(Scratch.shortName()).pem"
            try FileManager.default.copyItem(atPath: servers.trusted, toPath: file)
            try await withHTTP(
                .with {
                    $0.trustedCertificates = file
                    $0.trustedCertificatesAge = .zero
                }
            ) { http async throws in
                var call = order(servers.url("good"))
                call.endsConnection = true
                #expect(try await http.send(call, within: plenty).status == 200)
                try FileManager.default.removeItem(atPath: file)
                try FileManager.default.copyItem(atPath: servers.other, toPath: file)
                let failure = await http.failure(call)
                #expect(failure == HTTPFailure(reason: .untrusted, isUnsent: true))
                #expect(try await servers.requests("good") == 1)
                #expect(try await http.send(order(servers.url("stranger")), within: plenty).status == 200)
            }
        }
    }

    @Test(
        "an order is not lost with a kept connection that its peer ended as TLS wants it, and one in the middle is told"
    )
    func ended() async throws {
        try await SecureServers.with { servers in
            try await withHTTP(.with { $0.trustedCertificates = servers.trusted }) { http async throws in
                for _ in 0..<30 {
                    #expect(try await http.send(order(servers.url("good", "/close")), within: plenty).status == 200)
                    try await eventually("the end to arrive", every: .milliseconds(1)) {
                        sockets(to: servers.port("good"), in: .established) == 0
                    }
                }
                let failure = await http.failure(order(servers.url("good", "/cut")))
                #expect(failure == HTTPFailure(reason: .broken, isUnsent: false, status: 200))
                #expect(try await servers.requests("good") == 31)
            }
        }
    }

    // MARK: HTTP/2

    private func withMultiplexed(_ body: (HTTPClient, SecureServers) async throws -> Void) async throws {
        try await SecureServers.with { servers in
            try await withHTTP(
                .with {
                    $0.trustedCertificates = servers.trusted
                    $0.speaksHTTP2 = true
                }
            ) { http in try await body(http, servers) }
        }
    }

    @Test("many calls share one connection, and a slow one holds up no other")
    func multiplexed() async throws {
        try await self.withMultiplexed { http, servers async throws in
            _ = try await http.send(order(servers.url("h2")), within: plenty)
            try await withThrowingDiscardingTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        let call = order(servers.url("h2", number % 2 == 0 ? "/slow" : "/"))
                        let answer = try await http.send(call, within: plenty)
                        #expect(answer.status == 200)
                    }
                }
            }
            #expect(try await servers.requests("h2 connections") == 1)
            #expect(try await servers.requests("/slow") == 30)
            #expect(try await servers.requests("/") == 31)
        }
    }

    @Test(
        "a stream that is reset, and a connection that goes away, are told; the order was there at most once",
        arguments: ["/reset", "/refuse", "/half", "/goaway", "/silent"]
    )
    func streamEnds(path: String) async throws {
        try await self.withMultiplexed { http, servers async throws in
            let limit = path == "/silent" ? Duration.seconds(5) : plenty
            let failure = await http.failure(order(servers.url("h2", path)), within: limit, patience: plenty)
            #expect(failure?.isUnsent == false, "\(String(describing: failure))")
            #expect(failure?.reason == (path == "/silent" ? .timedOut : .broken))
            #expect(try await servers.requests(path) == 1)
            // The next one is as good as any.
            #expect(try await http.send(order(servers.url("h2")), within: plenty).status == 200)
        }
    }

    @Test("after the last answer of a connection that goes away, the next order goes over another one")
    func goesAway() async throws {
        try await self.withMultiplexed { http, servers async throws in
            for _ in 0..<10 {
                #expect(try await http.send(order(servers.url("h2", "/last")), within: plenty).status == 200)
                try await eventually("the end to arrive", every: .milliseconds(1)) {
                    sockets(to: servers.port("h2"), in: .established) == 0
                }
            }
            #expect(try await servers.requests("/last") == 10)
            #expect(try await servers.requests("h2 connections") == 10)
        }
    }

    @Test("who speaks no HTTP/2 is spoken to as ever")
    func fallsBack() async throws {
        try await self.withMultiplexed { http, servers async throws in
            for _ in 0..<3 { #expect(try await http.send(order(servers.url("good")), within: plenty).status == 200) }
        }
    }
}

extension HTTPClient.Configuration {
    /// Trusts those of a file, or whom the system trusts, and has patience: a handshake takes long on a busy machine.
    fileprivate static func trusting(_ file: String?) -> HTTPClient.Configuration {
        .with {
            $0.trustedCertificates = file
            $0.connectTimeout = plenty
        }
    }
}
