// swift-tools-version:6.2
import PackageDescription

// One settings array for everything we write. The wrappers of the C libraries alone leave strict memory safety off:
// they are where unsafe code lives.
let wrapper: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]
let strict: [SwiftSetting] = wrapper + [.strictMemorySafety()]
// What waits for servers, and is not deployed to answer anybody: the optimizer would take longer than it ever saves.
let tool: [SwiftSetting] = strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

// MARK: Outside packages

let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let contracts = Target.Dependency.product(name: "Contracts", package: "Contracts")

// MARK: Helpers

/// The SQL files of a module.
///
/// One service has no functions of its own.
func schema(_ name: String) -> [Resource] {
    [.copy("Migrations")] + (name == "Subscription" ? [] : [.copy("Functions")])
}

/// A library of the distribution, in the packages that have it.
func systemLibrary(_ name: String, _ packages: [String], pkgConfig: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Shared/\(name)", pkgConfig: pkgConfig, providers: [.apt(packages)])
}

/// A module of the shared layers.
func shared(_ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = strict) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Shared/\(name)",
        exclude: name == "ServiceKit" ? ["README.md", "openapi.yaml"] : ["README.md"],
        resources: name == "Messaging" ? schema(name) : [],
        swiftSettings: settings
    )
}

/// A service: its code as a library that tests call, and a shell that reads the environment and runs it.
func service(_ name: String, _ dependencies: [Target.Dependency] = []) -> [Target] {
    let own: [Target.Dependency] = [
        "ServiceKit", "Primitives", "Messaging", "Postgres", "Sealing", contracts, hummingbird,
        "OutgoingHTTP", httpTypes, logging, lifecycle, "Cryptography",
    ]
    let page: [Resource] = name == "Console" ? [.copy("Page"), .copy("Documents")] : []
    return library(name, own + dependencies, resources: schema(name) + page)
        + [executable(name, ["ServiceKit"])]
}

func library(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> [Target] {
    [
        .target(
            name: "\(name)Service",
            dependencies: dependencies,
            path: "Services/\(name)",
            exclude: ["README.md", "Main.swift", "openapi.yaml"],
            resources: resources,
            swiftSettings: strict
        )
    ]
}

func executable(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name.lowercased(),
        dependencies: [.target(name: "\(name)Service")] + dependencies,
        path: "Services/\(name)",
        sources: ["Main.swift"],
        swiftSettings: strict
    )
}

func test(_ module: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = wrapper) -> Target {
    .testTarget(
        name: "\(module)Tests",
        dependencies: dependencies,
        path: "Tests/\(module)Tests",
        swiftSettings: settings
    )
}

/// What tests with a migrated database stand on.
let migrated: [Target.Dependency] = [
    "ServiceTestSupport", "TestSupport", "Messaging", "Postgres", "AMQP", "Primitives", contracts, logging,
]

/// What tests share.
func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: wrapper)
}

/// The tests of a service, on real servers.
func serviceTest(_ module: String, _ dependencies: [Target.Dependency] = []) -> Target {
    test(module, [.target(name: "\(module)Service"), "ServiceKit", "Sealing"] + migrated + dependencies)
}

// MARK: Layers

let layers: [Target] = [
    // 0: headers and shims
    .systemLibrary(name: "CLinux", path: "Shared/CLinux"),
    systemLibrary("CLibPQ", ["libpq-dev"], pkgConfig: "libpq"),
    systemLibrary("CRabbitMQ", ["librabbitmq-dev"], pkgConfig: "librabbitmq"),
    // No pkgConfig: the flags that hiredis ships there are refused by the package manager.
    systemLibrary("CHiredis", ["libhiredis-dev"]),
    systemLibrary("CHaru", ["libhpdf-dev"]),
    systemLibrary("CQRencode", ["libqrencode-dev", "zlib1g-dev"]),
    systemLibrary("CZlib", ["zlib1g-dev"]),
    systemLibrary("COpenSSL", ["libssl-dev"], pkgConfig: "libcrypto"),
    systemLibrary("CLibSSL", ["libssl-dev"], pkgConfig: "libssl"),
    systemLibrary("CCurl", ["libcurl4-openssl-dev"], pkgConfig: "libcurl"),
    // 1: threads, values, other servers
    shared("EventLoops", ["CLinux"], settings: wrapper),
    shared("Cryptography", ["COpenSSL"], settings: wrapper),
    shared("Primitives", ["Cryptography"]),
    shared("ImageFiles", ["CZlib"]),
    shared("OutgoingHTTP", ["CCurl", "EventLoops", collections], settings: wrapper),
    // 2: the three clients, and what people keep
    shared("Postgres", ["CLibPQ", "EventLoops", logging], settings: wrapper),
    shared("AMQP", ["CRabbitMQ", "EventLoops", logging], settings: wrapper),
    shared("Redis", ["CHiredis", "CLibSSL", "EventLoops", logging], settings: wrapper),
    shared("Documents", ["CHaru", "EventLoops"], settings: wrapper),
    shared("QRCode", ["CQRencode"], settings: wrapper),
    // 3: Contracts is a package of its own, see Shared/Contracts
    // 4: events and jobs
    shared(
        "Messaging",
        [
            contracts, "Primitives", "Postgres", "AMQP", "EventLoops", logging, lifecycle, metrics, "Cryptography",
        ]
    ),
    // 5: what every service is made of, and the document of the events
    shared("ContractGate", [contracts, "Messaging"], settings: tool),
    shared("Sealing", ["EventLoops", "Primitives", "Cryptography"]),
    shared("AnchorClient", ["OutgoingHTTP", "Primitives"]),
    shared("ObjectStorage", ["OutgoingHTTP", "Primitives", "Cryptography", nioPosix]),
    shared(
        "ServiceKit",
        [
            "OutgoingHTTP", "ImageFiles", "ObjectStorage", contracts, "Primitives", "Postgres", "AMQP", "Redis",
            "EventLoops", "Messaging", "Sealing", hummingbird, hummingbirdCore, "Cryptography", lifecycle, unixSignals,
            logging, httpTypes, nioCore, collections,
        ]
    ),
    // A suite of processes, for development and tests
    shared("DevSuite", [contracts, "EventLoops", "Primitives", "Cryptography"], settings: tool),
]

// MARK: Services

let services: [Target] =
    service("Auth")
    + service("Customer", ["AnchorClient", "QRCode", "ImageFiles", "ObjectStorage"])
    + service("Account", ["AnchorClient"])
    + service("Transaction", ["AnchorClient", "Documents", "ImageFiles", "ObjectStorage", "QRCode", nioCore])
    + service("Subscription")
    + service("Notification", ["AnchorClient", "EventLoops", nioCore])
    + service("Analytics")
    + service("Console", ["ContractGate", "EventLoops", metrics])

/// Stands in for Anchor, Clerk and APNs; for development and tests, so it shares no rule with the services.
let sandbox: [Target] =
    library(
        "Sandbox",
        [
            "Primitives", hummingbird, "OutgoingHTTP", "Cryptography", nioCore, httpTypes, collections, logging,
            lifecycle, unixSignals,
        ]
    ) + [executable("Sandbox", [])]

let tools: [Target] = [
    .executableTarget(
        name: "transfactl",
        dependencies: [arguments, "OutgoingHTTP", "AMQP", "ContractGate", "DevSuite", "Messaging", "Sealing"]
            + ["Primitives", contracts],
        path: "Services/Transfactl",
        exclude: ["README.md"],
        swiftSettings: tool
    )
]

// MARK: Tests

let tests: [Target] = [
    support("TestSupport", ["DevSuite", "EventLoops"]),
    support("ServiceTestSupport", ["TestSupport", "Messaging", "Postgres", "AMQP", "Primitives", contracts, logging]),
    .executableTarget(
        name: "messaging-bench",
        dependencies: ["Messaging", "TestSupport", "Postgres", "AMQP", "Primitives", contracts, logging],
        path: "scripts/lib/bench/messaging",
        exclude: ["README.md", "run", "relay_loop.c"],
        swiftSettings: wrapper
    ),
    test("EventLoops", ["EventLoops"]),
    test("DevSuite", ["DevSuite", "TestSupport"]),
    test("Cryptography", ["Cryptography", "TestSupport"]),
    test("Primitives", ["Primitives"]),
    test("Postgres", ["Postgres", "EventLoops", "TestSupport", logging]),
    test("AMQP", ["AMQP", "EventLoops", "TestSupport", logging]),
    test("Redis", ["Redis", "EventLoops", "TestSupport", logging]),
    test("Documents", ["Documents", "TestSupport"]),
    test("Contracts", [contracts]),
    test("ContractGate", ["ContractGate", "Messaging", "AMQP", "TestSupport", contracts]),
    test("QRCode", ["QRCode", "TestSupport"]),
    test("ImageFiles", ["ImageFiles", "TestSupport"]),
    test("OutgoingHTTP", ["OutgoingHTTP", "EventLoops", "TestSupport"]),
    test("ObjectStorage", ["ObjectStorage", "EventLoops", "TestSupport", "OutgoingHTTP"]),
    test("Sealing", ["Sealing", "Cryptography"]),
    test("Messaging", migrated + ["EventLoops", lifecycle]),
    test(
        "ServiceKit",
        migrated + ["ServiceKit", "Redis", "Sealing", "EventLoops", hummingbird, "OutgoingHTTP", httpTypes, nioCore]
            + [lifecycle, "Cryptography", "ObjectStorage"]
    ),
    test(
        "Sandbox",
        [
            "SandboxService", "AnchorClient", "Primitives", "TestSupport", hummingbird, "OutgoingHTTP", "Cryptography",
            nioCore, nioHTTP1, nioPosix, httpTypes, logging, lifecycle,
        ]
    ),
    serviceTest("Auth", ["Cryptography", "OutgoingHTTP", "Redis", hummingbird]),
    serviceTest("Customer", ["AnchorClient", "EventLoops", "ImageFiles", "ObjectStorage", httpTypes]),
    serviceTest("Account", ["AnchorClient"]),
    serviceTest("Transaction", ["AnchorClient", "Documents", "EventLoops", "ObjectStorage", httpTypes]),
    serviceTest("Subscription"),
    // Every way that money goes, with the services that follow it.
    test(
        "Path",
        [
            "TransactionService", "AnalyticsService", "CustomerService", "NotificationService", "ServiceKit", "Sealing",
            "AnchorClient", "Documents", "EventLoops",
        ] + migrated
    ),
    serviceTest(
        "Notification",
        [
            "AnchorClient", "EventLoops", "SandboxService", "OutgoingHTTP", "Cryptography", httpTypes, nioCore,
            hummingbirdCore,
        ]
    ),
    serviceTest("Analytics", ["EventLoops"]),
    serviceTest("Console", ["ContractGate", "EventLoops", hummingbird, httpTypes, nioCore, nioEmbedded]),
    test("Tidy", []),
    test(
        "System",
        [
            "TestSupport", "Primitives", "EventLoops", "AMQP", "Messaging", "ContractGate", "Sealing",
            "DevSuite", contracts, "OutgoingHTTP", "Cryptography", logging, nioHTTP1, yams,
        ]
    ),
]

let package = Package(
    name: "transfa",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "Shared/Contracts"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    // Images are built from the sources alone.
    targets: layers + services + sandbox + tools + (Context.environment["TRANSFA_WITHOUT_TESTS"] == nil ? tests : [])
)
