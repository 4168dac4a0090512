import ContractGate
import Contracts
import EventLoops
import Foundation
import Hummingbird
import Logging
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The console service.
    public static let console = ServiceDefinition(
        name: "console",
        needs: [.database, .broker, .redis, .policies, .exports],
        keys: ConsoleConfiguration.keys,
        schema: { try ConsoleSchema.sets() },
        build: { try ConsoleParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct ConsoleParts {
    let host: ServiceHost
    let configuration: ConsoleConfiguration
    let store = ArchiveStore()
    let log: ArchiveLog
    /// How console reaches every service.
    let ports: ServiceCaller

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try ConsoleConfiguration(
            host.settings.reader,
            profile: host.settings.profile,
            ownToken: host.settings.internalServer.tokens.current
        )
        self.log = ArchiveLog(host.logger)
        self.ports = ServiceCaller(
            addresses: self.configuration.addresses,
            token: self.configuration.token,
            http: host.http
        )
    }

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .console) { _, work in self.plan(work) }
        let work = messaging.work
        let follower = self.configuration.readsLog ? try self.follower(work) : nil
        if let follower { self.host.readiness.add("event_log", .informational) { follower.isFollowing } }
        let reads = ArchiveReads(database: messaging.requests)
        let archive = ArchiveController(
            reads: reads,
            store: self.store,
            database: work,
            importEvents: follower == nil
                ? ImportEvents(database: work, store: self.store, days: self.days(work)) : nil,
            isFollowing: { follower?.isFollowing ?? false }
        )
        let events = EventController(reads: reads, feed: ReadFeed(reads: reads), trace: self.trace(reads))
        let replays = self.replays(work, archive: reads)
        let rebuilds = RebuildController(
            desk: RebuildDesk(replays: replays.desk, archive: reads, targets: RebuildTargetClient(ports: self.ports))
        )
        return ServiceParts(
            router: try self.page(reads, events, messaging.requests) { follower?.isFollowing ?? false },
            messaging: messaging,
            services: follower.map { [$0] } ?? [],
            queries: .console,
            pages: [Self.pagePath] + DocumentController.paths,
            exports: .console
        ) { group in
            archive.add(to: group)
            events.add(to: group)
            replays.add(to: group)
            rebuilds.add(to: group)
        }
    }

    private static let pagePath = "/console"

    /// The page and what it asks for, on the public port.
    private func page(
        _ reads: ArchiveReads,
        _ events: EventController,
        _ requests: EventDatabase,
        isFollowing: @escaping @Sendable () -> Bool
    ) throws -> Router<AppRequestContext> {
        let router = self.host.router()
        let folders = Bundle.module.bundleURL
        let open = router.limitedByAddress()
        try self.documents(folders.appendingPathComponent("Documents")).add(to: open)
        if let sandbox = self.sandbox { SandboxController(sandbox: sandbox).add(to: open) }
        let page = open.group(RouterPath(Self.pagePath)).add(middleware: PageHeaders.console)
        try PageController(folder: folders.appendingPathComponent("Page")).add(to: page)
        let host = self.host
        let signIn = try self.configuration.signIn(host, requests)
        let session = SessionController(signIn: signIn, isSecure: host.settings.profile != .sandbox)
        let api = page.group("/api")
        session.add(to: api)
        let own = api.group().add(middleware: SessionMiddleware(signIn: signIn))
        session.addOwn(to: own)
        events.add(to: own)
        PassageController(ports: self.ports, signIn: signIn).add(to: own)
        let overview = ReadOverview(ports: self.ports, reads: reads, clock: host.clock, isFollowing: isFollowing) {
            await host.brokerQueues()
        }
        own.get("/overview") { _, _ in APIResponse(.ok, body: Array(try await overview().utf8)) }
        return router
    }

    /// What everybody may read.
    ///
    /// When what shows the description of the API is missing, that is no reason not to start.
    private func documents(_ folder: URL) throws -> DocumentController {
        var viewer: StaticFiles?
        if let place = self.configuration.referenceFolder {
            viewer = try? DocumentController.viewer(in: place)
            if viewer == nil { self.host.logger.warning("no reference", metadata: ["folder": .safe(place)]) }
        }
        return try DocumentController(
            folder: folder,
            viewer: viewer,
            events: Array(try EventDocument.ofThisBuild().asyncAPI.document()),
            trying: self.host.settings.profile != .sandbox
                ? .nothing : self.sandbox == nil ? .requests : .requestsAsSomebody
        )
    }

    /// Who plays the world, where it is played.
    private var sandbox: SandboxClient? {
        self.configuration.sandbox.map { SandboxClient(address: $0, http: self.host.http, clock: self.host.clock) }
    }

    private func trace(_ reads: ArchiveReads) -> FollowTrace {
        FollowTrace(
            events: TraceEvents(reads: reads),
            reads: reads,
            peers: TraceClient(ports: self.ports)
        )
    }

    private func plan(_ work: EventDatabase) -> MessagingRuntime.Plan {
        let days = self.days(work)
        let backfill = BackfillArchive(
            database: work,
            store: self.store,
            days: days,
            outboxes: OutboxClient(ports: self.ports),
            log: self.log
        )
        return MessagingRuntime.Plan(
            jobs: ConsoleJobs.make(backfill: backfill, replay: self.replay(work)),
            schedules: ConsoleSchedules.make(days, ReplayStore())
        )
    }

    private func replay(_ work: EventDatabase) -> RunReplay {
        RunReplay(
            database: work,
            store: ReplayStore(),
            reads: ReplayReads(database: work),
            targets: ReplayTargetClient(ports: self.ports),
            rebuild: RunRebuild(
                database: work,
                store: ReplayStore(),
                archive: ArchiveReads(database: work),
                targets: RebuildTargetClient(ports: self.ports),
                clock: self.host.clock
            )
        )
    }

    private func replays(_ work: EventDatabase, archive: ArchiveReads) -> ReplayController {
        let reads = ReplayReads(database: work)
        let desk = ReplayDesk(database: work, store: ReplayStore(), reads: reads, archive: archive)
        return ReplayController(desk: desk, store: ReplayStore(), reads: reads, database: work)
    }

    private func follower(_ work: EventDatabase) throws -> FollowEventLog {
        FollowEventLog(
            reader: EventLogReader(
                configuration: try self.host.broker(),
                name: "console-log",
                logger: self.host.logger
            ),
            leadership: ArchiveLeadership(database: work),
            database: work,
            store: self.store,
            entries: StoreEntries(database: work, store: self.store, days: self.days(work), log: self.log),
            log: self.log
        )
    }

    private func days(_ work: EventDatabase) -> ArchiveDays {
        ArchiveDays(
            store: self.store,
            database: work,
            clock: self.host.clock,
            log: self.log,
            retention: self.configuration.retention
        )
    }
}
