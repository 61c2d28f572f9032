// swift-tools-version: 6.2
// See ARCHITECTURE.md for what each target is for. A target exists to forbid an import or because two
// programs share it; dependencies only point down the list of rooms.
import Glibc
import PackageDescription

let common: [SwiftSetting] = [
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
let unsafe: [SwiftSetting] = common + [.strictMemorySafety()]

/// What stands in every list below: a name, the wing whose folder it is in, what it may import.
extension Target {
    static func cLibrary(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
        .systemLibrary(
            name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
    }

    static func room(
        _ name: String, in wing: String, settings: [SwiftSetting] = common, _ dependencies: Dependency...
    ) -> Target {
        .target(name: name, dependencies: dependencies, path: "Sources/\(wing)/\(name)", swiftSettings: settings)
    }

    static func program(_ name: String, in wing: String, _ dependencies: Dependency...) -> Target {
        .executableTarget(
            name: name, dependencies: dependencies, path: "Sources/\(wing)/\(name)", swiftSettings: common)
    }

    /// Tests that belong to no single room.
    static func tests(_ name: String, _ dependencies: Dependency...) -> Target {
        .testTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: common)
    }

    static func tests(of room: String, _ dependencies: Dependency...) -> Target {
        .testTarget(
            name: "\(room)Tests", dependencies: [.byName(name: room)] + dependencies, path: "Tests/\(room)Tests",
            swiftSettings: common)
    }
}

/// The products of other packages.
extension Target.Dependency {
    static var arguments: Self { .product(name: "ArgumentParser", package: "swift-argument-parser") }
    static var asn1: Self { .product(name: "SwiftASN1", package: "swift-asn1") }
    static var crypto: Self { .product(name: "Crypto", package: "swift-crypto") }
    static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
    static var hummingbird: Self { .product(name: "Hummingbird", package: "hummingbird") }
    static var hummingbirdCore: Self { .product(name: "HummingbirdCore", package: "hummingbird") }
    static var lifecycle: Self { .product(name: "ServiceLifecycle", package: "swift-service-lifecycle") }
    static var log: Self { .product(name: "Logging", package: "swift-log") }
    static var nioCore: Self { .product(name: "NIOCore", package: "swift-nio") }
    static var nioEmbedded: Self { .product(name: "NIOEmbedded", package: "swift-nio") }
    static var nioHTTP1: Self { .product(name: "NIOHTTP1", package: "swift-nio") }
    static var nioPosix: Self { .product(name: "NIOPosix", package: "swift-nio") }
    static var nioSSL: Self { .product(name: "NIOSSL", package: "swift-nio-ssl") }
    static var nioTLS: Self { .product(name: "NIOTLS", package: "swift-nio") }
    static var protobuf: Self { .product(name: "SwiftProtobuf", package: "swift-protobuf") }
    static var signals: Self { .product(name: "UnixSignals", package: "swift-service-lifecycle") }
    static var x509: Self { .product(name: "X509", package: "swift-certificates") }
}

// MARK: - Doors to C: one module map each, imported by exactly one owner

let cLibraries: [Target] = [
    .cLibrary("CGPS", pkgConfig: "libgps", apt: "libgps-dev"),
    .cLibrary("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev"),
    .cLibrary("CAllocator"),
    .cLibrary("CClock"),
    .cLibrary("CLinux"),
    .cLibrary("CNetworkNamespace"),
    .cLibrary("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    .cLibrary("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
]

// MARK: - Shared by more than one program

let shared: [Target] = [
    .room("TrackModel", in: "Shared"),
    .room("Geodesy", in: "Shared", "TrackModel"),
    .room("Geofencing", in: "Shared", "Geodesy", "TrackModel"),
    .room("TimeZones", in: "Shared", "Geofencing", "TrackModel"),
    .room("Compression", in: "Shared", settings: unsafe, "CZlib"),
    .room("TrackWire", in: "Shared", "TrackModel", "Compression", .protobuf),
    .room("JSON", in: "Shared"),
    .room("LocalSocket", in: "Shared", .nioCore, .nioPosix),
    .room("Varlink", in: "Shared", "JSON", "LocalSocket", .nioCore, .nioPosix),
    .room("ConnectionLimits", in: "Shared", "TrackModel", .nioCore),
    .room("MetricsText", in: "Shared", "ConnectionLimits", "CAllocator", "LocalSocket", .nioCore, .nioPosix),
    .room("AgentControl", in: "Shared", "JSON", "LocalSocket", "Varlink", "TrackModel", .nioCore),
    .room("Terminal", in: "Shared", "TrackModel", .arguments),
    .room("Diagnosing", in: "Shared", "JSON", "Terminal", .nioCore, .nioPosix),
    .room("Systemd", in: "Shared", settings: unsafe, "TrackModel", .log),
    .room("DirectoryAccess", in: "Shared"),
    .room(
        "SecureLink", in: "Shared", settings: unsafe, "COpenSSL", "DirectoryAccess", "TrackModel", .nioCore, .nioPosix),
    .room("HTTPExchange", in: "Shared", "SecureLink", .nioCore),
    .room("ConfigurationFile", in: "Shared", "DirectoryAccess"),
    .room("TrackFiles", in: "Shared", "JSON", "TrackModel"),
    .room("FenceJSON", in: "Shared", "Geodesy", "Geofencing", "JSON", "TrackModel"),
    .room(
        "FenceDelivery", in: "Shared", "Compression", "Geofencing", "TrackModel", "TrackWire", .protobuf),
    .room("FenceFiles", in: "Shared", "FenceJSON", "Geodesy", "Geofencing", "JSON", "TrackFiles", "TrackModel"),
    .room("GeoPackageFile", in: "Shared", "FenceFiles", "TrackFiles"),
    .room(
        "FenceCommands", in: "Shared", "AgentControl", "DirectoryAccess", "FenceFiles", "FenceJSON",
        "GeoPackageFile", "Geodesy", "Geofencing", "JSON", "Terminal", "TimeZones", "TrackFiles", "TrackModel",
        .arguments),
]

// MARK: - The agent: its imports are a budget, checked by scripts/check-boundaries

let agent: [Target] = [
    .room("AgentLogic", in: "Agent", "TrackModel", "Geodesy"),
    .room(
        "LocalFences", in: "Agent", "AgentLogic", "FenceDelivery", "FenceJSON", "Geodesy", "Geofencing", "JSON",
        "TrackModel"),
    .room("DiskRing", in: "Agent", settings: unsafe, "TrackModel", "Compression"),
    .room("AlarmLog", in: "Agent", "JSON", "DiskRing", "TrackModel", "Compression"),
    .room("GNSSFeed", in: "Agent", settings: unsafe, "CGPS", "AgentLogic", "TrackModel"),
    .room(
        "AgentRuntime", in: "Agent", "AgentControl", "AgentLogic", "AlarmLog", "CLinux", "ConfigurationFile",
        "ConnectionLimits", "MetricsText", "FenceDelivery", "FenceJSON", "GNSSFeed", "Geodesy", "Geofencing", "JSON",
        "LocalFences", "LocalSocket", "SecureLink", "Systemd", "TimeZones", "DiskRing", "TrackModel", "TrackWire",
        "Varlink", .log,
        .nioCore, .nioPosix),
]

// MARK: - The server

let server: [Target] = [
    .room("TrackStore", in: "Server", "Geodesy", "Geofencing", "TrackModel", "TrackWire", .crypto),
    .room("TrackAnalysis", in: "Server", "Geodesy", "TrackModel"),
    .room("RoadMatching", in: "Server", "Geodesy", "JSON", "TrackAnalysis", "TrackModel"),
    .room(
        "RoadEngine", in: "Server", "HTTPExchange", "MetricsText", "RoadMatching", "SecureLink", "Systemd",
        "TrackAnalysis", "TrackModel", .log, .nioCore, .nioPosix),
    .room("SQLDatabase", in: "Server", settings: unsafe, "CSQLite"),
    .room(
        "StoreRecords", in: "Server", "Geodesy", "Geofencing", "SQLDatabase", "TrackStore", "TrackModel", "TrackWire",
        .crypto),
    .room(
        "TrackStoreSQLite", in: "Server", "Geofencing", "SQLDatabase", "StoreRecords", "TrackStore",
        "TrackModel", "TrackWire"),
    .room("FenceJudging", in: "Server", "FenceJSON", "Geofencing", "TrackStore", "TrackModel"),
    .room(
        "Ingest", in: "Server", "ConnectionLimits", "MetricsText", "FenceJudging", "Geofencing", "Systemd",
        "TrackStore",
        "TrackModel", .log),
    .room(
        "WebAPI", in: "Server", "ConnectionLimits", "FenceFiles", "FenceJudging", "Geodesy", "Geofencing", "Ingest",
        "JSON",
        "RoadMatching", "Systemd", "TrackAnalysis", "TrackFiles", "TrackModel", "TrackStore", .log, .crypto),
    .room("TrackExport", in: "Server", "Compression", "TrackAnalysis", "TrackModel", "TrackStore"),
    .room("AlarmCallbacks", in: "Server", "JSON", "TrackModel", "TrackStore", "WebAPI", .crypto),
    .room("ServerIdentity", in: "Server", "DirectoryAccess", "SecureLink", "TrackModel"),
    .room("Enrolment", in: "Server", "ConfigurationFile", "JSON", "TrackModel", "TrackStore"),
    .room(
        "WebListener", in: "Server", "ConnectionLimits", "Enrolment", "MetricsText", "SecureLink",
        "ServerIdentity", "WebAPI", .log, .lifecycle, .nioCore, .nioHTTP1, .httpTypes, .hummingbird, .hummingbirdCore),
    .room(
        "Gateway", in: "Server", "ConnectionLimits", "FenceDelivery", "FenceJSON", "Geofencing", "Geodesy", "Ingest",
        "JSON",
        "SecureLink", "ServerIdentity", "Systemd", "TrackStore", "TrackModel", "TrackWire", .log, .nioCore, .nioPosix),
    .room(
        "ServerRuntime", in: "Server", "ConnectionLimits", "AlarmCallbacks", "CClock", "ConfigurationFile",
        "Diagnosing",
        "DirectoryAccess", "Enrolment", "MetricsText", "FenceFiles", "FenceJudging", "Gateway", "GeoPackageFile",
        "Geodesy", "Geofencing", "HTTPExchange", "Ingest", "JSON", "RoadEngine", "RoadMatching", "SecureLink",
        "ServerIdentity", "Systemd", "StoreRecords", "Terminal", "TimeZones", "TrackExport", "TrackFiles", "TrackModel",
        "TrackStore",
        "TrackStoreSQLite",
        "WebAPI",
        "WebListener",
        .log, .lifecycle, .signals, .nioCore, .nioPosix, .crypto, .asn1, .x509),
]

// MARK: - The command line, for agent and server

let commandLine: [Target] = [
    .room(
        "SakerCommand", in: "CLI", "AgentControl", "ConfigurationFile", "Diagnosing", "DirectoryAccess",
        "FenceCommands", "FenceFiles", "FenceJSON", "Geodesy", "Geofencing", "HTTPExchange", "JSON",
        "SecureLink", "Terminal",
        "TrackFiles", "TrackModel", "Varlink", .arguments, .nioCore, .nioPosix)
]

// MARK: - Programs: one file each, arguments to an exit code

/// GNU ld packs relative relocations, 1.8 MB of the program of the vehicle; the toolchain's default linker cannot. glibc
/// reads them from 2.36 on; a package fits only the release that it was built on. The script keeps constants read-only, and
/// puts what a live agent runs in one place (docs/decisions/0029-one-program.md).
let vehicleLink: [String] = {
    var name = [CChar](repeating: 0, count: 64)  // such as "glibc 2.36"
    confstr(Int32(_CS_GNU_LIBC_VERSION), &name, name.count)
    let digits = name.map { UInt8(bitPattern: $0) }.split { !(48...57).contains($0) }
    let version = digits.compactMap { Int(String(decoding: $0, as: UTF8.self)) }
    let packs = version.lexicographicallyPrecedes([2, 36]) ? [] : ["-z", "pack-relative-relocs"]
    let scripts = "\(Context.packageDirectory)/scripts"
    return ["-use-ld=bfd"] + (packs + ["-L", scripts, "-T", "\(scripts)/vehicle.ld"]).flatMap { ["-Xlinker", $0] }
}()

let programs: [Target] = [
    // The agent or the command line, as its name says: docs/decisions/0029-one-program.md.
    .executableTarget(
        name: "saker", dependencies: ["AgentRuntime", "SakerCommand"], path: "Sources/Vehicle/saker",
        swiftSettings: common,
        linkerSettings: [.unsafeFlags(vehicleLink, .when(configuration: .release))]),
    .program(
        "saker-server", in: "Server", "ConfigurationFile", "Diagnosing", "FenceCommands", "Geodesy",
        "Geofencing", "JSON", "ServerRuntime", "Systemd", "Terminal", "TrackModel", "TrackStore", .arguments, .log),
]

// MARK: - Tools for a desk: simulated input, faults, fixtures

let tools: [Target] = [
    .room("DriveSimulation", in: "Tools", "Geodesy", "TrackModel"),
    .room(
        "FleetSimulation", in: "Tools", "DriveSimulation", "Geodesy", "SecureLink", "TrackModel", "TrackWire",
        .nioCore, .nioPosix),
    // SQLite's own files on a disk that loses power.
    .room("StoreDisk", in: "Tools", "CSQLite"),
    // The whole system in virtual time: it may look into every room, and no program may depend on it.
    .room(
        "SystemSimulation", in: "Tools", "AgentControl", "AgentLogic", "AgentRuntime", "AlarmLog", "Compression",
        "ConfigurationFile", "FenceDelivery", "FenceJSON", "Gateway", "Geodesy", "Geofencing", "GNSSFeed", "Ingest",
        "JSON", "LocalFences", "SecureLink", "StoreDisk", "StoreRecords", "TrackAnalysis", "DiskRing", "TrackModel",
        "TrackStore", "TrackStoreSQLite", "TrackTestKit", "TrackWire", .log, .nioCore),
    .program("saker-simulate", in: "Tools", "SystemSimulation", .arguments),
    .room(
        "TrackTestKit", in: "Tools", "AgentControl", "Geodesy", "Geofencing", "Ingest", "JSON", "RoadMatching",
        "SecureLink", "SQLDatabase", "StoreRecords", "TrackAnalysis", "DiskRing", "TrackModel", "TrackStore",
        "TrackStoreSQLite", "Varlink", .log, .nioCore),
    .room("ProgramTestKit", in: "Tools", "CNetworkNamespace", "CSQLite", "DiskRing", "TrackModel"),
    // The programs themselves are dependencies so that they are built beside it.
    .program("saker-crash", in: "Tools", "ProgramTestKit", "saker", "saker-server", .arguments),
    .program(
        "saker-bench", in: "Tools", "DriveSimulation", "FenceFiles", "Geodesy", "Geofencing", "TrackAnalysis",
        "DiskRing", "TrackFiles", "TrackModel", "TrackWire", .arguments),
    .program(
        "saker-sim", in: "Tools", "ConfigurationFile", "DriveSimulation", "FleetSimulation", "Geodesy", "SecureLink",
        "TrackFiles", "TrackModel", .arguments),
]

// MARK: - Tests: a folder each, of the same shape as the room's

/// `make test-rooms` names the only test targets that it wants: SwiftPM then compiles and links what these need, and no more.
let wantedTests = Context.environment["SAKER_TESTS"].map { $0.split(separator: " ").map(String.init) }

let tests: [Target] = [
    .tests(of: "Geodesy", "ProgramTestKit", "TrackModel"),
    .tests(of: "Geofencing", "Geodesy", "ProgramTestKit", "TrackModel"),
    .tests(of: "TimeZones", "Geofencing", "ProgramTestKit", "TrackModel"),
    .tests(of: "TrackModel", "TrackTestKit"),
    .tests(of: "Compression"),
    .tests(of: "TrackWire", "Compression", "ProgramTestKit", "TrackModel"),
    .tests(of: "JSON"),
    .tests(of: "LocalSocket", "ProgramTestKit", .nioCore, .nioPosix),
    .tests(of: "Varlink", "JSON", "LocalSocket", "ProgramTestKit", .nioCore, .nioPosix),
    .tests(of: "ConnectionLimits", "TrackModel", "TrackTestKit", .nioCore),
    .tests(of: "MetricsText", "ProgramTestKit", .nioCore, .nioPosix),
    // Documents, examples, completions and manuals beside the programs and lists they describe.
    .tests(
        "DocumentTests", "AgentControl", "AgentRuntime", "ConfigurationFile", "MetricsText", "ProgramTestKit",
        "ServerRuntime", "TrackModel", "saker", "saker-server", "saker-sim"),
    .tests(
        of: "AgentControl", "JSON", "LocalSocket", "ProgramTestKit", "TrackModel", "TrackTestKit", "Varlink", .nioCore,
        .nioPosix),
    .tests(
        "CommandLineTests", "SakerCommand", "AgentControl", "AgentRuntime", "ConfigurationFile", "Diagnosing",
        "FenceCommands", "FenceJSON", "Geodesy", "Geofencing", "HTTPExchange", "JSON", "ProgramTestKit", "SecureLink",
        "Terminal", "TrackStore", "Varlink", .nioCore, .nioPosix, .nioSSL),
    .tests(of: "Systemd", "ProgramTestKit", .log),
    .tests(of: "ConfigurationFile"),
    .tests(of: "DirectoryAccess", "ProgramTestKit"),
    .tests(of: "Terminal", .arguments),
    .tests(of: "TrackFiles", "JSON", "ProgramTestKit"),
    .tests(
        of: "FenceFiles", "FenceJSON", "Geodesy", "Geofencing", "JSON", "ProgramTestKit", "TrackFiles", "TrackModel"),
    .tests(
        of: "FenceDelivery", "Compression", "Geodesy", "Geofencing", "ProgramTestKit", "TrackModel", "TrackWire",
        .protobuf),
    .tests(of: "FenceJSON", "Geodesy", "Geofencing", "JSON", "TrackModel"),
    .tests(of: "GeoPackageFile", "FenceFiles", "Geodesy", "JSON", "ProgramTestKit"),
    .tests(of: "AgentLogic", "TrackModel", "TrackTestKit"),
    .tests(
        of: "LocalFences", "AgentLogic", "AlarmLog", "FenceDelivery", "Geodesy", "Geofencing", "JSON", "DiskRing",
        "TrackModel",
        "TrackTestKit"),
    .tests(of: "SecureLink", "ProgramTestKit", "TrackModel", .nioCore, .nioPosix, .nioEmbedded, .nioSSL),
    .tests(of: "HTTPExchange", "ProgramTestKit", "SecureLink", .nioCore, .nioPosix),
    .tests(of: "DiskRing", "ProgramTestKit", "TrackModel", "TrackTestKit"),
    .tests(
        of: "GNSSFeed", "AgentLogic", "DriveSimulation", "Geodesy", "ProgramTestKit", "TrackModel", "TrackTestKit",
        "TrackWire"),
    .tests(of: "AlarmLog", "DiskRing", "TrackModel", "TrackTestKit"),
    .tests(
        of: "AgentRuntime", "AgentControl", "AgentLogic", "AlarmLog", "ConfigurationFile", "MetricsText",
        "FenceDelivery", "GNSSFeed", "Geodesy", "Geofencing", "JSON", "LocalFences", "ProgramTestKit", "SecureLink",
        "Systemd", "DiskRing", "TrackModel", "TrackTestKit",
        "TrackWire", "Varlink", .log, .nioCore, .nioPosix, .nioEmbedded, .crypto, .nioSSL, .nioTLS, .asn1, .x509),
    .tests(of: "TrackAnalysis", "Geodesy", "ProgramTestKit", "TrackModel"),
    .tests(of: "RoadMatching", "Geodesy", "JSON", "ProgramTestKit", "TrackAnalysis", "TrackModel", "TrackTestKit"),
    .tests(
        of: "RoadEngine", "MetricsText", "Geodesy", "JSON", "ProgramTestKit", "RoadMatching", "TrackAnalysis",
        "TrackModel", "TrackTestKit", .log, .nioCore, .nioHTTP1, .nioPosix),
    .tests(of: "TrackStore", "TrackModel", "TrackTestKit", "TrackWire"),
    .tests(of: "SQLDatabase", "ProgramTestKit"),
    .tests(
        of: "TrackStoreSQLite", "Geodesy", "Geofencing", "ProgramTestKit", "SQLDatabase", "StoreRecords", "TrackModel",
        "TrackStore", "TrackTestKit", "TrackWire"),
    .tests(of: "FenceJudging", "Geodesy", "Geofencing", "JSON", "TrackModel", "TrackStore", "TrackTestKit"),
    .tests(
        of: "Ingest", "MetricsText", "FenceDelivery", "FenceJudging", "Geodesy", "Geofencing", "Systemd",
        "ProgramTestKit", "TrackModel", "StoreRecords", "TrackStore", "TrackTestKit", .log),
    .tests(
        of: "WebAPI", "Geodesy", "Geofencing", "Ingest", "JSON", "RoadEngine", "RoadMatching", "Systemd",
        "TrackAnalysis", "TrackModel", "StoreRecords", "TrackStore", "TrackTestKit", .log),
    .tests(of: "TrackExport", "TrackAnalysis", "TrackModel", "StoreRecords", "TrackStore", "TrackTestKit"),
    .tests(of: "AlarmCallbacks", "Geofencing", "JSON", "TrackModel", "TrackStore"),
    .tests(of: "ServerIdentity", "ProgramTestKit", "SecureLink", "TrackModel", .nioSSL),
    .tests(of: "Enrolment", "JSON", "TrackModel", "TrackStore", "TrackTestKit"),
    .tests(
        of: "WebListener", "Enrolment", "ServerIdentity", "TrackModel", "TrackStore", "TrackTestKit", "WebAPI",
        .lifecycle, .log,
        .nioCore, .nioPosix, .crypto, .asn1, .x509),
    .tests(
        of: "Gateway", "MetricsText", "FenceDelivery", "Geodesy", "Geofencing", "Ingest", "JSON", "ServerIdentity",
        "TrackModel",
        "StoreRecords", "TrackStore", "TrackTestKit",
        "TrackWire", .log, .nioCore, .nioPosix, .nioEmbedded, .crypto, .nioSSL, .asn1, .x509),
    .tests(
        of: "ServerRuntime", "AlarmCallbacks", "ConfigurationFile", "Diagnosing", "Enrolment", "MetricsText",
        "FenceCommands", "FenceFiles", "Geodesy",
        "Geofencing",
        "Ingest", "JSON", "ProgramTestKit", "RoadMatching", "StoreRecords", "Systemd", "TrackExport", "TrackFiles",
        "TrackModel",
        "TrackStore", "TrackTestKit", "WebAPI", "saker-server", .arguments, .log, .nioCore, .nioHTTP1, .nioPosix,
        .crypto, .asn1,
        .x509),
    .tests(of: "DriveSimulation", "Geodesy", "TrackModel", "saker-sim"),
    .tests(of: "FleetSimulation", "ProgramTestKit", "SecureLink", "TrackModel", "saker-server", "saker-sim"),
    .tests(
        of: "StoreDisk", "CSQLite", "StoreRecords", "TrackModel", "TrackStore", "TrackStoreSQLite", "TrackTestKit"),
    .tests(
        "SimulationTests", "AgentControl", "AgentLogic", "AgentRuntime", "AlarmLog", "ConfigurationFile", "FenceJSON",
        "Geodesy", "Geofencing", "JSON",
        "LocalFences", "SystemSimulation", "DiskRing", "TrackModel", "TrackStore", "TrackTestKit", .nioCore),
    // The fuzzers' properties on every kept input: docs/fuzzing.md.
    .tests(
        "FuzzTests", "AgentControl", "AgentLogic", "AgentRuntime", "Compression", "ConfigurationFile",
        "DriveSimulation", "Enrolment", "MetricsText", "FenceDelivery", "FenceFiles", "FenceJSON", "Geofencing",
        "GNSSFeed", "HTTPExchange", "JSON", "LocalSocket",
        "Geodesy", "RoadMatching", "ServerRuntime", "DiskRing", "TrackExport", "TrackFiles",
        "TrackModel", "TrackStore", "TrackTestKit", "TrackWire", "Varlink", "WebAPI", "FenceCommands", "saker-sim",
        .log,
        .nioCore, .nioEmbedded),
    // The programs themselves, as a user runs them: they are dependencies so that they are built.
    .tests("IntegrationTests", "ProgramTestKit", "saker", "saker-server", "saker-sim"),
]

/// Debug builds have libdispatch in a library, which must find the function of ThreadPriority.swift in the program. Release builds
/// have it in the program itself.
for target in shared where target.name == "Systemd" {
    target.linkerSettings = [
        .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=setpriority"], .when(configuration: .debug))
    ]
}

// MARK: - The package

let package = Package(
    name: "saker",
    products: [
        // One program under both names. An installation has one file and a link.
        .executable(name: "sakerd", targets: ["saker"]),
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
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: cLibraries + shared + agent + server + commandLine + programs + tools
        + tests.filter { wantedTests?.contains($0.name) ?? true },
    swiftLanguageModes: [.v6]
)
