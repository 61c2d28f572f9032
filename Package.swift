// swift-tools-version: 6.2
// The house: see ARCHITECTURE.md for what each target is for. A target exists to forbid an import or because two
// programs share it; dependencies only point down the list of rooms.
import PackageDescription

let house: [SwiftSetting] = [
    // `any P` is written out, so that the cost of an existential is visible.
    .enableUpcomingFeature("ExistentialAny"),
    // A file imports what it uses: the boundary check can then read imports alone.
    .enableUpcomingFeature("MemberImportVisibility"),
    // C types cannot leak out of the target that owns them.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // An async function stays on its caller's executor unless it says otherwise.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // A conformance is isolated as its type is.
    .enableUpcomingFeature("InferIsolatedConformances"),
    // A weak capture that is never assigned is a constant.
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    // A warning is an error, here and in continuous integration alike.
    .treatAllWarnings(as: .error),
    // A deprecation in a dependency's update must not stop a security release.
    .treatWarning("DeprecatedDeclaration", as: .warning),
]
/// For the rooms that own C handles or raw memory: every unsafe use is marked where it happens.
let door: [SwiftSetting] = house + [.strictMemorySafety()]

let package = Package(
    name: "saker",
    products: [
        .executable(name: "sakerd", targets: ["sakerd"]),
        .executable(name: "saker", targets: ["saker"]),
        .executable(name: "saker-server", targets: ["saker-server"]),
        .executable(name: "saker-sim", targets: ["saker-sim"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: doors + shared + agent + server + programs + tools + tests,
    swiftLanguageModes: [.v6]
)

// MARK: - Doors to C: one module map each, imported by exactly one owner

var doors: [Target] {
    [
        .systemLibrary(
            name: "CGPS", path: "Sources/CLibraries/CGPS", pkgConfig: "libgps", providers: [.apt(["libgps-dev"])]),
        .systemLibrary(
            name: "CZlib", path: "Sources/CLibraries/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CAllocator", path: "Sources/CLibraries/CAllocator"),
        .systemLibrary(name: "CLinux", path: "Sources/CLibraries/CLinux"),
        .systemLibrary(name: "CNetworkNamespace", path: "Sources/CLibraries/CNetworkNamespace"),
        .systemLibrary(
            name: "COpenSSL", path: "Sources/CLibraries/COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]),
    ]
}

// MARK: - Shared by more than one program

var shared: [Target] {
    [
        .room("TrackModel", in: "Shared"),
        .room("Geodesy", in: "Shared", ["TrackModel"]),
        .room("Geofencing", in: "Shared", ["Geodesy", "TrackModel"]),
        .room("Compression", in: "Shared", ["CZlib"], door),
        .room(
            "TrackWire", in: "Shared",
            ["TrackModel", "Compression", .product(name: "SwiftProtobuf", package: "swift-protobuf")]),
        .room("JSON", in: "Shared"),
        .room("LocalSocket", in: "Shared", [.nioCore, .nioPosix]),
        .room("Varlink", in: "Shared", ["JSON", "LocalSocket", .nioCore, .nioPosix]),
        .room("Admission", in: "Shared", [.nioCore]),
        .room("Exposition", in: "Shared", ["Admission", "LocalSocket", .nioCore, .nioPosix]),
        .room("AgentControl", in: "Shared", ["JSON", "LocalSocket", "Varlink", "TrackModel", .nioCore]),
        .room("Systemd", in: "Shared", [.log], door),
        .room("ConfigurationFile", in: "Shared"),
        .room("TrackFiles", in: "Shared", ["JSON"]),
        .room("FenceFiles", in: "Shared", ["Geodesy", "Geofencing", "JSON", "TrackFiles", "TrackModel"]),
    ]
}

// MARK: - The agent: its imports are a budget, checked by scripts/check-boundaries

var agent: [Target] {
    [
        .room("AgentLogic", in: "Agent", ["TrackModel", "Geodesy"]),
        .room("LocalFences", in: "Agent", ["AgentLogic", "Geodesy", "Geofencing", "JSON", "TrackModel"]),
        .room("SecureLink", in: "Agent", ["COpenSSL", "TrackModel", .nioCore, .nioPosix], door),
        .room("TrackCache", in: "Agent", ["TrackModel", "Compression"], door),
        .room("AlarmLog", in: "Agent", ["TrackCache", "Compression"]),
        .room("GNSSFeed", in: "Agent", ["CGPS", "AgentLogic", "TrackModel"], door),
        .room(
            "AgentRuntime", in: "Agent",
            [
                "AgentControl", "AgentLogic", "AlarmLog", "CLinux", "ConfigurationFile", "Exposition", "GNSSFeed",
                "JSON", "LocalSocket",
                "SecureLink", "Systemd", "TrackCache",
                "TrackModel", "TrackWire", "Varlink", .log, .nioCore, .nioPosix,
            ]),
    ]
}

// MARK: - The server

var server: [Target] {
    [
        .room(
            "TrackStore", in: "Server",
            ["TrackModel", "TrackWire", .product(name: "Crypto", package: "swift-crypto")]),
        .room("TrackAnalysis", in: "Server", ["Geodesy", "TrackModel"]),
        .room("RoadMatching", in: "Server", ["Geodesy", "JSON", "TrackAnalysis", "TrackModel"]),
        .room(
            "TrackStoreSQLite", in: "Server",
            ["TrackStore", "TrackModel", "TrackWire", .product(name: "GRDB", package: "GRDB.swift")]),
        .room("Ingest", in: "Server", ["Exposition", "Systemd", "TrackStore", "TrackModel", .log]),
        .room(
            "WebAPI", in: "Server",
            [
                "Ingest", "JSON", "Systemd", "TrackAnalysis", "TrackStore", "TrackModel", "Geodesy", .log,
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .room(
            "ServerIdentity", in: "Server",
            ["TrackModel", .nioCore, .product(name: "NIOSSL", package: "swift-nio-ssl")]),
        .room(
            "WebListener", in: "Server",
            [
                "Admission", "Exposition", "ServerIdentity", "WebAPI", .log, .lifecycle, .nioCore,
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
            ]),
        .room(
            "Gateway", in: "Server",
            [
                "Admission", "Ingest", "ServerIdentity", "Systemd", "TrackStore", "TrackModel", "TrackWire", .log,
                .nioCore, .nioPosix,
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        .room(
            "ServerRuntime", in: "Server",
            [
                "CAllocator", "ConfigurationFile", "Exposition", "Gateway", "Ingest", "JSON", "ServerIdentity",
                "Systemd",
                "TrackModel",
                "TrackStore", "TrackStoreSQLite", "WebAPI", "WebListener", .log, .lifecycle, .signals, .nioCore,
                .nioPosix,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
    ]
}

// MARK: - Programs: one file each, arguments to an exit code; the command line is larger

var programs: [Target] {
    [
        .executableTarget(
            name: "sakerd", dependencies: ["AgentRuntime"], path: "Sources/Agent/sakerd", swiftSettings: house),
        .executableTarget(
            name: "saker-server",
            dependencies: [
                "ConfigurationFile", "JSON", "ServerRuntime", "Systemd", "TrackModel", "TrackStore", .arguments, .log,
            ],
            path: "Sources/Server/saker-server", swiftSettings: house),
        .executableTarget(
            name: "saker",
            dependencies: [
                "AgentControl", "ConfigurationFile", "JSON", "TrackFiles", "TrackModel", "Varlink", .arguments,
                .nioCore,
                .nioPosix,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Sources/CLI/saker", swiftSettings: house),
    ]
}

// MARK: - Tools for a desk: simulated input, faults, fixtures

var tools: [Target] {
    [
        .room("DriveSimulation", in: "Tools", ["Geodesy", "TrackModel"]),
        .room(
            "FleetSimulation", in: "Tools",
            [
                "DriveSimulation", "Geodesy", "TrackModel", "TrackWire", .nioCore, .nioPosix,
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        // SQLite's own files on a disk that loses power.
        .room("StoreDisk", in: "Tools", [.product(name: "GRDBSQLite", package: "GRDB.swift")]),
        // The whole system in virtual time: it may look into every room, and no program may depend on it.
        .room(
            "SystemSimulation", in: "Tools",
            [
                "AgentControl", "AgentLogic", "AgentRuntime", "AlarmLog", "Compression", "ConfigurationFile", "Gateway",
                "GNSSFeed", "Ingest", "JSON", "SecureLink", "TrackCache", "TrackModel", "TrackStore",
                "TrackStoreSQLite", "TrackTestKit", "TrackWire",
                .log, .nioCore,
                .product(name: "NIOTLS", package: "swift-nio"),
            ]),
        .executableTarget(
            name: "saker-simulate", dependencies: ["SystemSimulation", .arguments],
            path: "Sources/Tools/saker-simulate", swiftSettings: house),
        .room(
            "TrackTestKit", in: "Tools",
            [
                "AgentControl", "Ingest", "JSON", "SecureLink", "TrackCache", "TrackModel", "TrackStore", "Varlink",
                .log,
                .nioCore,
            ]),
        .room("ProgramTestKit", in: "Tools", ["CNetworkNamespace", "TrackCache", "TrackModel"]),
        // The programs themselves are dependencies so that they are built beside it.
        .executableTarget(
            name: "saker-crash",
            dependencies: ["ProgramTestKit", "saker", "saker-server", "sakerd", .arguments],
            path: "Sources/Tools/saker-crash", swiftSettings: house),
        .executableTarget(
            name: "saker-bench",
            dependencies: [
                "DriveSimulation", "Geodesy", "Geofencing", "TrackCache", "TrackModel", "TrackWire", .arguments,
            ],
            path: "Sources/Tools/saker-bench", swiftSettings: house),
        .executableTarget(
            name: "saker-sim",
            dependencies: [
                "ConfigurationFile", "DriveSimulation", "FleetSimulation", "Geodesy", "TrackFiles", "TrackModel",
                .arguments,
            ],
            path: "Sources/Tools/saker-sim", swiftSettings: house),
    ]
}

// MARK: - Tests: a folder each, of the same shape as the room's

var tests: [Target] {
    [
        .tests(of: "Geodesy", ["ProgramTestKit", "TrackModel"]),
        .tests(of: "Geofencing", ["Geodesy", "ProgramTestKit", "TrackModel"]),
        .tests(of: "TrackModel", ["TrackTestKit"]),
        .tests(of: "Compression"),
        .tests(of: "TrackWire", ["Compression", "ProgramTestKit", "TrackModel"]),
        .tests(of: "JSON"),
        .tests(of: "LocalSocket", ["ProgramTestKit", .nioCore, .nioPosix]),
        .tests(of: "Varlink", ["JSON", "LocalSocket", "ProgramTestKit", .nioCore, .nioPosix]),
        .tests(of: "Admission", ["TrackTestKit", .nioCore]),
        .tests(of: "Exposition", ["ProgramTestKit", .nioCore, .nioPosix]),
        // Documents, examples, completions and manuals beside the programs and lists they describe.
        .testTarget(
            name: "DocumentTests",
            dependencies: [
                "AgentControl", "AgentRuntime", "ConfigurationFile", "Exposition", "ProgramTestKit", "ServerRuntime",
                "saker",
                "saker-server", "saker-sim", "sakerd",
            ],
            path: "Tests/DocumentTests", swiftSettings: house),
        .tests(
            of: "AgentControl",
            ["JSON", "LocalSocket", "ProgramTestKit", "TrackModel", "TrackTestKit", "Varlink", .nioCore, .nioPosix]),
        .testTarget(
            name: "CommandLineTests",
            dependencies: [
                "saker", "AgentControl", "ConfigurationFile", "JSON", "ProgramTestKit", "Varlink", .nioCore, .nioPosix,
            ],
            path: "Tests/CommandLineTests", swiftSettings: house),
        .tests(of: "Systemd", ["ProgramTestKit", .log]),
        .tests(of: "ConfigurationFile"),
        .tests(of: "TrackFiles", ["ProgramTestKit"]),
        .tests(
            of: "FenceFiles", ["Geodesy", "Geofencing", "JSON", "ProgramTestKit", "TrackFiles", "TrackModel"]),
        .tests(of: "AgentLogic", ["TrackModel", "TrackTestKit"]),
        .tests(
            of: "LocalFences",
            ["AgentLogic", "AlarmLog", "Geodesy", "Geofencing", "JSON", "TrackCache", "TrackModel", "TrackTestKit"]),
        .tests(
            of: "SecureLink",
            [
                "ProgramTestKit", "TrackModel",
                .nioCore, .nioPosix,
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),
        .tests(of: "TrackCache", ["ProgramTestKit", "TrackModel", "TrackTestKit"]),
        .tests(
            of: "GNSSFeed",
            ["AgentLogic", "DriveSimulation", "Geodesy", "ProgramTestKit", "TrackModel", "TrackTestKit", "TrackWire"]),
        .tests(of: "AlarmLog", ["TrackCache", "TrackTestKit"]),
        .tests(
            of: "AgentRuntime",
            [
                "AgentControl", "AgentLogic", "AlarmLog", "ConfigurationFile", "Exposition", "GNSSFeed", "JSON",
                "ProgramTestKit", "SecureLink", "Systemd", "TrackCache", "TrackModel", "TrackTestKit", "TrackWire",
                "Varlink", .log, .nioCore, .nioPosix,
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
        .tests(of: "TrackAnalysis", ["Geodesy", "ProgramTestKit", "TrackModel"]),
        .tests(of: "RoadMatching", ["Geodesy", "JSON", "ProgramTestKit", "TrackAnalysis", "TrackModel"]),
        .tests(of: "TrackStore", ["TrackModel", "TrackTestKit"]),
        .tests(
            of: "TrackStoreSQLite",
            [
                "ProgramTestKit", "TrackModel", "TrackStore", "TrackTestKit", "TrackWire",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .tests(of: "Ingest", ["Exposition", "Systemd", "TrackModel", "TrackStore", "TrackTestKit", .log]),
        .tests(
            of: "WebAPI",
            [
                "Geodesy", "Ingest", "JSON", "Systemd", "TrackAnalysis", "TrackModel", "TrackStore", "TrackTestKit",
                .log,
            ]),
        .tests(of: "ServerIdentity", ["ProgramTestKit", "TrackModel"]),
        .tests(
            of: "WebListener",
            [
                "ServerIdentity", "TrackModel", "TrackStore", "TrackTestKit", "WebAPI", .lifecycle, .log, .nioCore,
                .nioPosix,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
        .tests(
            of: "Gateway",
            [
                "Exposition", "Ingest", "ServerIdentity", "TrackModel", "TrackStore", "TrackTestKit", "TrackWire",
                .log, .nioCore, .nioPosix,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]),
        .tests(
            of: "ServerRuntime",
            [
                "ConfigurationFile", "Exposition", "Ingest", "ProgramTestKit", "TrackModel", "TrackStore",
                "TrackTestKit",
                "saker-server", .log,
            ]),
        .tests(of: "DriveSimulation", ["Geodesy", "TrackModel", "saker-sim"]),
        .tests(of: "FleetSimulation", ["TrackModel", "saker-server", "saker-sim"]),
        .tests(
            of: "StoreDisk",
            [
                "TrackModel", "TrackStore", "TrackStoreSQLite", "TrackTestKit",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "AgentControl", "AgentRuntime", "AlarmLog", "ConfigurationFile", "SystemSimulation", "TrackCache",
                "TrackModel", "TrackStore", "TrackTestKit", .nioCore,
            ],
            path: "Tests/SimulationTests", swiftSettings: house),
        // The fuzzers' properties on every kept input: docs/fuzzing.md.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AgentControl", "AgentLogic", "AgentRuntime", "Compression", "ConfigurationFile", "DriveSimulation",
                "Exposition", "GNSSFeed", "JSON", "LocalSocket", "ServerRuntime", "TrackCache", "TrackFiles",
                "TrackModel",
                "TrackStore", "TrackTestKit", "TrackWire", "Varlink", "WebAPI", "saker", "saker-sim", .log, .nioCore,
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            path: "Tests/FuzzTests", swiftSettings: house),
        // The programs themselves, as a user runs them: they are dependencies so that they are built.
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["ProgramTestKit", "sakerd", "saker", "saker-server", "saker-sim"],
            path: "Tests/IntegrationTests", swiftSettings: house),
    ]
}

extension Target {
    static func room(
        _ name: String, in wing: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = house
    ) -> Target {
        .target(name: name, dependencies: dependencies, path: "Sources/\(wing)/\(name)", swiftSettings: settings)
    }

    static func tests(of name: String, _ dependencies: [Target.Dependency] = []) -> Target {
        .testTarget(
            name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, path: "Tests/\(name)Tests",
            swiftSettings: house)
    }
}

extension Target.Dependency {
    static var arguments: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
    static var lifecycle: Self { .product(name: "ServiceLifecycle", package: "swift-service-lifecycle") }
    static var log: Self { .product(name: "Logging", package: "swift-log") }
    static var nioCore: Self { .product(name: "NIOCore", package: "swift-nio") }
    static var nioPosix: Self { .product(name: "NIOPosix", package: "swift-nio") }
    static var signals: Self { .product(name: "UnixSignals", package: "swift-service-lifecycle") }
}
