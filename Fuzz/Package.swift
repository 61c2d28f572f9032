// swift-tools-version: 6.2
// The fuzzers: docs/fuzzing.md. A package of its own, because the rooms have to be compiled with the sanitizers' hooks in
// them; `scripts/fuzz` links `Rooms` and `Sources/Properties` to the sources, so that nothing is fuzzed but what is shipped.
import PackageDescription

let common: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .treatAllWarnings(as: .error),
    .treatWarning("DeprecatedDeclaration", as: .warning),
]

let package = Package(
    name: "saker-fuzz",
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    ],
    targets: [
        .systemLibrary(name: "CGPS", path: "Rooms/CLibraries/CGPS", pkgConfig: "libgps"),
        .systemLibrary(name: "CZlib", path: "Rooms/CLibraries/CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CAllocator", path: "Rooms/CLibraries/CAllocator"),
        .systemLibrary(name: "CSQLite", path: "Rooms/CLibraries/CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "COpenSSL", path: "Rooms/CLibraries/COpenSSL", pkgConfig: "openssl"),
        .target(name: "Crypto", swiftSettings: common),
        .room("Geodesy", in: "Shared", ["TrackModel"]),
        .room("Geofencing", in: "Shared", ["Geodesy", "TrackModel"]),
        .room("TrackModel", in: "Shared"),
        .room("Compression", in: "Shared", ["CZlib"]),
        .room(
            "TrackWire", in: "Shared",
            ["TrackModel", "Compression", .product(name: "SwiftProtobuf", package: "swift-protobuf")]),
        .room("JSON", in: "Shared"),
        .room("LocalSocket", in: "Shared", [.nioCore, .nioPosix]),
        .room("Varlink", in: "Shared", ["JSON", "LocalSocket", .nioCore, .nioPosix]),
        .room("ConnectionLimits", in: "Shared", ["TrackModel", .nioCore]),
        .room("MetricsText", in: "Shared", ["ConnectionLimits", "CAllocator", "LocalSocket", .nioCore, .nioPosix]),
        .room("AgentControl", in: "Shared", ["JSON", "LocalSocket", "Varlink", "TrackModel", .nioCore]),
        .room("DirectoryAccess", in: "Shared"),
        .room("ConfigurationFile", in: "Shared", ["DirectoryAccess"]),
        .room("AgentLogic", in: "Agent", ["TrackModel", "Geodesy"]),
        .room("DiskRing", in: "Agent", ["TrackModel", "Compression"]),
        .room("AlarmLog", in: "Agent", ["Compression", "DiskRing", "TrackModel"]),
        .room("GNSSFeed", in: "Agent", ["CGPS", "AgentLogic", "TrackModel"]),
        .room("TrackFiles", in: "Shared", ["JSON"]),
        .room("FenceJSON", in: "Shared", ["Geodesy", "Geofencing", "JSON", "TrackModel"]),
        .room(
            "FenceDelivery", in: "Shared",
            [
                "Compression", "Geofencing", "TrackModel", "TrackWire",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]),
        .room("FenceFiles", in: "Shared", ["FenceJSON", "Geodesy", "Geofencing", "JSON", "TrackFiles", "TrackModel"]),
        .room("TrackStore", in: "Server", ["Geodesy", "Geofencing", "TrackModel", "TrackWire", "Crypto"]),
        .room("SQLDatabase", in: "Server", ["CSQLite"]),
        .room(
            "StoreRecords", in: "Server",
            ["Geodesy", "Geofencing", "SQLDatabase", "TrackModel", "TrackStore", "TrackWire", "Crypto"]),
        .room(
            "TrackStoreSQLite", in: "Server",
            ["Geofencing", "SQLDatabase", "StoreRecords", "TrackModel", "TrackStore", "TrackWire"]),
        .room("Enrolment", in: "Server", ["ConfigurationFile", "JSON", "TrackModel", "TrackStore"]),
        // Of the larger rooms, what reads from outside: their shells would bring half of the ecosystem with them.
        .room(
            "SecureLink", in: "Shared", ["COpenSSL"],
            only: ["PublicKeyPin.swift", "SecureLinkError.swift"]),
        .room(
            "HTTPExchange", in: "Shared",
            only: [
                "HTTPAnswerReader.swift", "HTTPRequest.swift",
            ]),
        .room(
            "AgentRuntime", in: "Agent",
            [
                "AgentControl", "AgentLogic", "AlarmLog", "ConfigurationFile", "MetricsText", "SecureLink",
                "TrackModel",
            ],
            only: ["AgentConfiguration.swift"]),
        .room(
            "ServerRuntime", in: "Server",
            ["ConfigurationFile", "MetricsText", "Ingest", "TrackModel", "TrackStore", "WebAPI", .log],
            only: ["Configuration/ServerConfiguration.swift", "Configuration/ServerConfiguration+Reading.swift"]),
        .room("Systemd", in: "Shared", ["TrackModel", .log]),
        .room("FenceJudging", in: "Server", ["FenceJSON", "Geofencing", "TrackStore", "TrackModel"]),
        .room(
            "Ingest", in: "Server",
            [
                "ConnectionLimits", "MetricsText", "FenceJudging", "Geofencing", "Systemd", "TrackStore", "TrackModel",
                .log,
            ]),
        .room("TrackAnalysis", in: "Server", ["Geodesy", "TrackModel"]),
        .room(
            "TrackExport", in: "Server", ["Compression"],
            only: ["ZipFile.swift"]),
        .room("RoadMatching", in: "Server", ["Geodesy", "JSON", "TrackAnalysis", "TrackModel"]),
        .room(
            "WebAPI", in: "Server",
            [
                "Ingest", "JSON", "RoadMatching", "Systemd", "TrackAnalysis", "TrackStore", "TrackModel", "Geodesy",
                .log, "Crypto",
            ]),
        .room("DriveSimulation", in: "Tools", ["Geodesy", "TrackModel"]),
        .room(
            "TrackTestKit", in: "Tools",
            [
                "AgentControl", "Geodesy", "Geofencing", "Ingest", "JSON", "SQLDatabase", "StoreRecords", "TrackModel",
                "DiskRing", "TrackStore", "TrackStoreSQLite", "Varlink", .log, .nioCore,
            ],
            only: [
                "Deadline.swift", "DiskNode.swift", "DiskSimulation.swift", "SampleAgent.swift",
                "Stores/StoreDecorator.swift", "Stores/TestStore.swift",
            ]),
        .target(
            name: "Terminal", dependencies: ["TrackModel"], path: "Rooms/Shared/Terminal", sources: ["TextFold.swift"],
            swiftSettings: common),
        .target(
            name: "FenceCommands", dependencies: ["Terminal", "TrackFiles"], path: "Rooms/Shared/FenceCommands",
            sources: ["TimeExpression.swift"], swiftSettings: common),
        .target(
            name: "saker_sim", dependencies: ["DriveSimulation", "Geodesy", "TrackFiles"],
            path: "Rooms/Tools/saker-sim",
            sources: ["RouteFile.swift"], swiftSettings: common),
        .target(
            name: "Properties",
            dependencies: [
                "AgentControl", "AgentLogic", "AgentRuntime", "Compression", "ConfigurationFile", "DriveSimulation",
                "Enrolment", "MetricsText", "FenceDelivery", "FenceFiles", "FenceJSON", "GNSSFeed", "Geofencing",
                "HTTPExchange", "JSON",
                "Geodesy", "LocalSocket", "RoadMatching",
                "ServerRuntime",
                "DiskRing", "TrackExport", "TrackFiles", "TrackModel", "TrackStore", "TrackTestKit", "TrackWire",
                "Varlink",
                "WebAPI", "FenceCommands", "saker_sim",
                .log, .nioCore,
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: common),
        .executableTarget(name: "saker-fuzz", dependencies: ["Properties"], swiftSettings: common),
    ],
    swiftLanguageModes: [.v6]
)

extension Target {
    static func room(
        _ name: String, in wing: String, _ dependencies: [Target.Dependency] = [], only sources: [String]? = nil
    ) -> Target {
        .target(
            name: name, dependencies: dependencies, path: "Rooms/\(wing)/\(name)", sources: sources,
            swiftSettings: common)
    }
}

extension Target.Dependency {
    static var log: Self { .product(name: "Logging", package: "swift-log") }
    static var nioCore: Self { .product(name: "NIOCore", package: "swift-nio") }
    static var nioPosix: Self { .product(name: "NIOPosix", package: "swift-nio") }
}
