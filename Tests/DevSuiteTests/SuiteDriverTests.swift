import Foundation
import TestSupport
import Testing

@testable import DevSuite

/// Parts here are shells: what is tried is how they are started, recorded and stopped.
@Suite("driver of a suite")
struct SuiteDriverTests {
    private let folder = SuiteFolder("\(Scratch.directory)/f\(Scratch.shortName())")

    /// A part that runs a line of shell, and is ready when a loopback port is answered.
    private func part(_ name: String, _ line: String, port: Int) -> SuitePart {
        SuitePart(
            name: name,
            stage: 0,
            program: "/bin/sh",
            arguments: ["-c", line],
            settings: ["PORT": "\(port)"],
            ports: [name: port],
            readiness: .listens(port: port),
            log: "\(self.folder.logs)/\(name).log",
            migrationURL: nil
        )
    }

    private func keep(_ parts: [SuitePart]) throws {
        try self.folder.makeFolders([self.folder.logs, "\(self.folder.path)/pids"])
        try self.folder.keep(SuiteDescription(Ground.made()).with(parts))
    }

    private static let listening = """
        exec python3 -c 'import os, socket, time
        s = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
        time.sleep(600)'
        """

    @Test("a part runs on after its starter, is looked at, and is stopped with its record")
    func life() async throws {
        try self.keep([self.part("one", Self.listening, port: try freePort())])
        let driver = SuiteDriver(self.folder)
        #expect(try await driver.start() == [])
        let standing = try #require(try await driver.standings().first)
        #expect(standing.isReady)
        #expect(try await driver.start() == ["one"])
        #expect(self.folder.record(of: "one").runningPID == standing.pid)
        try await driver.stop()
        #expect(self.folder.record(of: "one").runningPID == nil)
        #expect(!FileManager.default.fileExists(atPath: self.folder.record(of: "one").path))
    }

    @Test("a part that ends at once is told with the last lines of its log, and its neighbours are stopped")
    func endsAtOnce() async throws {
        let good = self.part("good", Self.listening, port: try freePort())
        try self.keep([good, self.part("bad", "echo no such setting; exit 3", port: try freePort())])
        await #expect {
            try await SuiteDriver(self.folder).start()
        } throws: { error in
            "\(error)".hasPrefix("bad ended at once, see ") && "\(error)".hasSuffix("no such setting")
        }
        #expect(self.folder.record(of: "good").runningPID == nil)
    }

    @Test("a part that does not get ready in time is told and stopped, though it ignores SIGTERM")
    func neverReady() async throws {
        try self.keep([self.part("deaf", "trap '' TERM; echo waiting; sleep 600", port: try freePort())])
        let driver = SuiteDriver(self.folder, readyLimit: .milliseconds(300), stopLimit: .milliseconds(300))
        await #expect {
            try await driver.start()
        } throws: {
            "\($0)".contains("did not get ready")
        }
        #expect(self.folder.record(of: "deaf").runningPID == nil)
    }

    @Test("the gateway's port is kept, and is another one when somebody else has it")
    func typedPort() async throws {
        let port = try self.folder.port(SuiteGround.gateway)
        #expect(LoopbackPort.typed.contains(port))
        #expect(try self.folder.port(SuiteGround.gateway) == port)
        try await withProcess("/bin/sh", ["-c", Self.listening], environment: ["PORT": "\(port)"]) { _ in
            try await eventually("the port to be taken") { portAnswers(port) }
            let other = try self.folder.port(SuiteGround.gateway)
            #expect(other > port && LoopbackPort.typed.contains(other))
            #expect(try self.folder.port(SuiteGround.gateway) == other)
        }
    }

    @Test("a kept port that somebody else has is told in one sentence")
    func takenPort() async throws {
        let port = try freePort()
        try await withProcess("/bin/sh", ["-c", Self.listening], environment: ["PORT": "\(port)"]) { _ in
            try await eventually("the port to be taken") { portAnswers(port) }
            try self.keep([self.part("late", Self.listening, port: port)])
            await #expect {
                try await SuiteDriver(self.folder).start()
            } throws: {
                "\($0)".hasPrefix("Port \(port) of late is taken by another program")
            }
        }
    }

    @Test("a pid that was given to somebody else is not signalled")
    func reusedPID() async throws {
        try await withProcess("/bin/sleep", ["600"]) { stranger in
            let record = ProcessRecord("\(Scratch.directory)/r\(Scratch.shortName())")
            try Data("\(stranger.pid) 12345\n".utf8).write(to: URL(fileURLWithPath: record.path))
            #expect(record.runningPID == nil)
            await record.stop(within: .seconds(1))
            #expect(stranger.isRunning)
        }
    }

    @Test("ports and secrets are kept, and no two ports are the same")
    func kept() throws {
        let ports = try ["a", "b", "c"].map(self.folder.port)
        #expect(try ["a", "b", "c"].map(self.folder.port) == ports && Set(ports).count == 3)
        #expect(try self.folder.secret("s") { "first" } == "first")
        #expect(try self.folder.secret("s") { "second" } == "first")
        let mode = try FileManager.default.attributesOfItem(atPath: "\(self.folder.path)/secrets/s")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("a folder without a suite says so")
    func unprepared() async {
        await #expect(throws: SuiteError("No suite was prepared in \(self.folder.path).")) {
            try await SuiteDriver(self.folder).standings()
        }
    }
}

extension SuiteDescription {
    /// The same with other parts.
    fileprivate func with(_ parts: [SuitePart]) -> SuiteDescription {
        SuiteDescription(parts: parts, tool: self.tool, operators: [:], servers: self.servers, databases: [:])
    }
}
