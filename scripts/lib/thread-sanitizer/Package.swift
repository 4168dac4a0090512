// swift-tools-version:6.2
import PackageDescription

// Layers 0 to 4 of the root manifest, without the HTTP server and its dependencies: small enough to build a second time
// with ThreadSanitizer. `scripts/test --full` copies it beside links to Shared and Tests.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let contracts = Target.Dependency.product(name: "Contracts", package: "Contracts")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")

func shared(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Shared/\(name)",
        exclude: ["README.md"],
        resources: name == "Messaging" ? [.copy("Migrations"), .copy("Functions")] : [],
        swiftSettings: settings
    )
}

func test(_ module: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(module)Tests",
        dependencies: dependencies,
        path: "Tests/\(module)Tests",
        swiftSettings: settings
    )
}

let package = Package(
    name: "transfa-thread-sanitizer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "Shared/Contracts"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    ],
    targets: [
        .systemLibrary(name: "CLinux", path: "Shared/CLinux"),
        .systemLibrary(name: "CLibPQ", path: "Shared/CLibPQ", pkgConfig: "libpq"),
        .systemLibrary(name: "CRabbitMQ", path: "Shared/CRabbitMQ", pkgConfig: "librabbitmq"),
        .systemLibrary(name: "CHiredis", path: "Shared/CHiredis"),
        .systemLibrary(name: "COpenSSL", path: "Shared/COpenSSL", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CLibSSL", path: "Shared/CLibSSL", pkgConfig: "libssl"),
        .systemLibrary(name: "CCurl", path: "Shared/CCurl", pkgConfig: "libcurl"),
        shared("EventLoops", ["CLinux"]),
        shared("Cryptography", ["COpenSSL"]),
        shared("Primitives", ["Cryptography"]),
        shared("Postgres", ["CLibPQ", "EventLoops", logging]),
        shared("AMQP", ["CRabbitMQ", "EventLoops", logging]),
        shared("Redis", ["CHiredis", "CLibSSL", "EventLoops", logging]),
        shared(
            "Messaging",
            [
                contracts, "Primitives", "Postgres", "AMQP", "EventLoops", logging, lifecycle, metrics, "Cryptography",
                collections,
            ]
        ),
        shared("OutgoingHTTP", ["CCurl", "EventLoops", collections]),
        shared("DevSuite", [contracts, "EventLoops", "Primitives", "Cryptography"]),
        .target(
            name: "TestSupport",
            dependencies: ["DevSuite", "EventLoops"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "ServiceTestSupport",
            dependencies: ["TestSupport", "Messaging", "Postgres", "AMQP", "Primitives", contracts, logging],
            path: "Tests/ServiceTestSupport",
            swiftSettings: settings
        ),
        test("EventLoops", ["EventLoops"]),
        test("OutgoingHTTP", ["OutgoingHTTP", "EventLoops", "TestSupport"]),
        test("Contracts", [contracts]),
        test("Cryptography", ["Cryptography", "TestSupport"]),
        test("Primitives", ["Primitives"]),
        test("Postgres", ["Postgres", "EventLoops", "TestSupport", logging]),
        test("AMQP", ["AMQP", "EventLoops", "TestSupport", logging]),
        test("Redis", ["Redis", "EventLoops", "TestSupport", logging]),
        test(
            "Messaging",
            [
                "Messaging", "ServiceTestSupport", "TestSupport", "Postgres", "AMQP", "EventLoops", "Primitives",
                contracts,
                logging, lifecycle,
            ]
        ),
    ]
)
