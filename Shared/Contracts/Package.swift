// swift-tools-version:6.0
import PackageDescription

let package = Package(
    name: "Contracts",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [.library(name: "Contracts", targets: ["Contracts"])],
    targets: [
        .target(name: "Contracts", swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    ]
)
