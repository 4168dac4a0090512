import EventLoops
import HTTPTypes
import Hummingbird
import Logging
import OutgoingHTTP
import ServiceLifecycle
import Testing

@testable import ServiceKit

/// A door that is opened once.
private actor Door {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        self.isOpen = true
        for continuation in self.waiting {
            continuation.resume()
        }
        self.waiting = []
    }

    func pass() async {
        guard !self.isOpen else { return }
        await withCheckedContinuation { self.waiting.append($0) }
    }
}

/// Notes when it starts and stops.
private struct Loop: Service {
    let name: String
    let journal: Locked<[String]>

    func run() async {
        self.journal.withLock { $0.append("\(self.name) starts") }
        try? await gracefulShutdown()
        self.journal.withLock { $0.append("\(self.name) stops") }
    }
}

@Suite("graceful shutdown")
struct ShutdownTests {
    @Test("a request under way is answered, readiness is false meanwhile, loops stop after the server")
    func drains() async throws {
        let settings = try ServiceSettings(service: "test", needs: [], reader: SettingsReader(plainVariables))
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let host = try ServiceHost(settings: settings, logger: quiet)
        let (entered, release) = (Door(), Door())
        let journal = Locked<[String]>([])
        let router = host.router()
        router.get("/work") { _, _ in
            await entered.open()
            await release.pass()
            journal.withLock { $0.append("answered") }
            return APIResponse(.ok, body: Array("1".utf8))
        }
        let parts = ServiceParts(router: router, services: [Loop(name: "loop", journal: journal)])
        let group = ServiceGroup(configuration: .init(services: host.services(of: parts), logger: quiet))
        try await withThrowingTaskGroup(of: Int.self) { tasks in
            tasks.addTask {
                try await group.run()
                return 0
            }
            let url = "http://127.0.0.1:\(await host.publicPort.value)/work"
            tasks.addTask {
                try await HTTPClient().send(HTTPCall(.get, url), within: .seconds(20)).status
            }
            await entered.pass()
            await group.triggerGracefulShutdown()
            while await host.readiness.report().isReady {
                await Task.yield()
            }
            #expect(journal.withLock { $0 } == ["loop starts"])
            await release.open()
            var codes: [Int] = []
            for try await code in tasks {
                codes.append(code)
            }
            #expect(codes.sorted() == [0, 200])
        }
        #expect(journal.withLock { $0 } == ["loop starts", "answered", "loop stops"])
    }
}
