import EventLoops
import Foundation
import Postgres
import TestSupport
import Testing

/// A server of our own with a certificate for `localhost`, in a folder that goes with it.
private struct SecureServer {
    private static let binaries =
        ProcessInfo.processInfo.environment["TRANSFA_POSTGRES_BIN"] ?? "/usr/lib/postgresql/15/bin"

    let folder: String
    let port: UInt16

    static func with(_ body: (SecureServer) async throws -> Void) async throws {
        let folder = "/tmp/pgtls-\(UUID().uuidString.prefix(8).lowercased())"
        let server = SecureServer(folder: folder, port: try TCPProxy(to: 1).port)
        try await server.shell("mkdir \(folder) && chmod 755 \(folder)")
        try await server.makeCertificates()
        if getuid() == 0 { try await server.shell("chown -R postgres \(folder)") }
        let data = "\(folder)/data"
        try await server.postgres("\(binaries)/initdb -D \(data) -A trust -U postgres -N")
        let options = """
            -c port=\(server.port) -c listen_addresses=127.0.0.1 -c unix_socket_directories=\(folder) -c ssl=on \
            -c ssl_cert_file=\(folder)/server.crt -c ssl_key_file=\(folder)/server.key -c fsync=off
            """
        try await server.postgres("\(binaries)/pg_ctl -D \(data) -l \(folder)/log -w -o '\(options)' start")
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(server)) } catch { outcome = .failure(error) }
        try await server.postgres("\(binaries)/pg_ctl -D \(data) -m immediate stop")
        try await server.shell("rm -rf \(folder)")
        try outcome.get()
    }

    func url(host: String, _ query: String) -> String {
        "postgres://postgres@\(host):\(self.port)/postgres?hostaddr=127.0.0.1&\(query)"
    }

    var authority: String { "\(self.folder)/ca.crt" }

    private func makeCertificates() async throws {
        try await self.shell(
            """
            cd \(self.folder) && umask 077 \
            && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj '/CN=Test CA' \
               -keyout ca.key -out ca.crt \
            && openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=localhost' \
               -keyout server.key -out server.csr \
            && printf 'subjectAltName=DNS:localhost' > san \
            && openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile san \
               -out server.crt \
            && chmod 644 ca.crt
            """
        )
    }

    /// The server refuses to run as root.
    private func postgres(_ command: String) async throws {
        try await self.shell(getuid() == 0 ? "runuser -u postgres -- \(command)" : command)
    }

    private func shell(_ command: String) async throws {
        // Not with `Process`: it waits for the daemon that the command leaves behind.
        let status = await SideThread.run { system("cd / && { \(command); } >/dev/null 2>&1 </dev/null") }
        guard status == 0 else { throw MissingServer(description: "exit status \(status): \(command)") }
    }
}

@Suite struct TLSTests {
    @Test("verify-full takes the right host name, refuses the wrong one and an unknown authority")
    func verifyFull() async throws {
        try await SecureServer.with { server in
            let right = server.url(host: "localhost", "sslmode=verify-full&sslrootcert=\(server.authority)")
            try await withClient(right) { client in
                let rows = try await client.query("SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
                let (isEncrypted, version) = try rows[0].decode(Bool.self, String.self)
                #expect(isEncrypted)
                #expect(version.hasPrefix("TLSv1."))
                try await self.exchangeMuch(client)
            }
            let wrong = server.url(host: "example.test", "sslmode=verify-full&sslrootcert=\(server.authority)")
            try await self.expectRefused(wrong, "does not match host name")
            let unknown = server.url(host: "localhost", "sslmode=verify-full&sslrootcert=\(server.folder)/none.crt")
            try await self.expectRefused(unknown, "does not exist")
        }
    }

    /// Answers of all sizes around those of TLS records and libpq's buffers: one that is left in the TLS layer would
    /// never be announced by the socket.
    private func exchangeMuch(_ client: PostgresClient) async throws {
        let sizes = [1, 8_100, 8_192, 16_300, 16_384, 16_400, 32_768, 65_536, 1_000_000, 5_000_000]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for size in sizes + sizes.reversed() + sizes {
                group.addTask {
                    let text = String(repeating: "y", count: size)
                    let rows = try await client.query("SELECT \(text)::text, \(size)")
                    let (back, number) = try rows[0].decode(String.self, Int.self)
                    #expect(back.utf8.count == size)
                    #expect(number == size)
                }
            }
            try await group.waitForAll()
        }
    }

    /// The reason is in the error as soon as one attempt to connect has ended, however long a busy machine takes for it.
    private func expectRefused(_ url: String, _ reason: String) async throws {
        try await withClient(url, [{ $0.leaseTimeout = .milliseconds(500) }]) { client in
            try await eventually("a reason") {
                let error = try await postgresError { try await client.query("SELECT 1") }
                #expect(error.code == .leaseTimeout)
                return error.message.contains(reason)
            }
        }
    }
}
