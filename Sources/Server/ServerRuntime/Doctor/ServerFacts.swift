import TrackModel
import TrackStore

/// What the probes have found. The checks use nothing else.
struct ServerFacts: Hashable, Sendable {
    var now: Timestamp
    var configurationPath: String
    /// Sentences that an operator should read.
    var warnings: [String] = []
    /// A server serves the store; nil: this user may not look.
    var isServed: Bool?
    var certificates: CertificateFacts
    var disks: [DiskFacts] = []
    var store: StoreFacts
    var ports: [PortFacts] = []
    var isClockKept = true
    var clockMayGoBack = false
    /// Nil: none is configured.
    var roads: RoadFacts?
    /// Nil: the store was not read.
    var callbacks: [CallbackFacts]?
    /// By their services; nil: the store was not read.
    var access: [VehicleAccessFacts]?
    /// Why no certificate can be signed for a vehicle; nil: one can, or this user may not read the key, or there is no authority for them.
    var enrolmentProblem: String?
    /// Nil: the store was not read.
    var fleet: FleetFacts?
}

/// How the vehicles of all services are.
struct FleetFacts: Hashable, Sendable {
    /// Vehicles that an operator expects to hear from.
    var vehicles: Int
    /// By their worst trouble.
    var troubles: [VehicleTrouble.Kind: Int]
}

/// How the vehicles of a service may log in.
struct VehicleAccessFacts: Hashable, Sendable {
    var service: Int64
    /// With certificates of their own.
    var devices: Int
    /// Numbers of access keys that let any box log in as any vehicle.
    var keys: [String]
    /// Devices that wait for a person, and when the first of them was made.
    var pending = 0
    var oldestPending: Timestamp?
    /// Tokens that may be used and have an end, by their numbers.
    var tokenEnds: [Int64: Timestamp] = [:]
}

struct CertificateFacts: Hashable {
    struct File: Hashable {
        enum Content: Hashable {
            /// Seconds since 1970: the latest beginning and the earliest end of those in the file.
            case validity(from: Int64, until: Int64)
            case unreadable(String)
        }

        /// The key of the configuration that names it, as in `ca in [tls]`.
        var use: String
        var path: String
        var content: Content
    }

    var path: String
    /// Why the certificate and its key cannot be served; nil: they can.
    var problem: String?
    /// Names and addresses of the certificate.
    var hosts: [String] = []
    /// Names that vehicles or clients are told to use.
    var told: [String] = []
    /// Why agents would not trust the chain; nil: they do.
    var distrust: String?
    /// Everybody on this machine may read the private key.
    var isKeyPublic = false
    /// The server's chain first.
    var files: [File] = []
}

/// Bytes, of the file system of a directory.
struct DiskFacts: Hashable {
    enum Sync: Hashable {
        /// After so many milliseconds.
        case done(Int64)
        case failed(String)
        /// This user may not write there.
        case forbidden
        /// It did not end in time.
        case hangs
    }

    var directory: String
    var free: Int64
    var total: Int64
    var isReadOnly: Bool
    /// As in `ext4`; nil when the kernel does not tell.
    var kind: String?
    var sync: Sync
}

enum StoreFacts: Hashable {
    /// It cannot be opened: why, and whether this user may not.
    case unreadable(String, isForbidden: Bool)
    case read(StoreContent)
}

struct StoreContent: Hashable {
    var path: String
    var schema: Int
    var knownSchema: Int
    /// With its log.
    var bytes: Int64
    var maximumBytes: Int64?
    /// What a quick check of the file found, at most ten; nil: it did not end in time.
    var problems: [String]?
    /// Another process kept everybody else from writing for so many seconds.
    var heldFor: Int?
    var newestReceived: Timestamp?
    /// Files of the store that belong to another user than the store itself.
    var strangeFiles: [String] = []
    /// The user whose the store is.
    var owner: String
}

struct PortFacts: Hashable {
    enum Found: Hashable {
        /// Port 0, or a Unix socket.
        case notFixed
        case free
        /// The system does not let anybody listen there: why.
        case unusable(String)
        /// A port below 1024, which this user may not have: nobody answers there.
        case privileged
        case ours
        /// TLS with another certificate than that of the file.
        case otherCertificate
        /// It does not answer as this server does: what it does.
        case stranger(String)
    }

    /// As in `[web] https_port`.
    var setting: String
    var place: String
    var found: Found
}

enum RoadFacts: Hashable {
    /// Why it gave no status: a sentence without its subject.
    case silent(String)
    case answers(version: String, missing: [String], tilesModified: Int64, tiles: Tiles)

    enum Tiles: Hashable {
        /// The engine knows roads around so many of the latest positions.
        case known(Int, of: Int)
        /// There is no position to ask about.
        case noPositions
        case failed(String)
    }
}

struct CallbackFacts: Hashable {
    var service: Int64
    /// Without what stands behind the host: a path may be a secret.
    var url: String
    var waiting: Int
    /// Since when the oldest one was sent in vain, milliseconds since 1970; nil: it was not sent yet.
    var failingSince: Int64?
    /// Why it does not take alarms; nil: it does.
    var problem: String?
}

/// What the doctor sees of a store, whatever kind of store it is.
struct StoreFileFacts: Sendable {
    var schema: Int
    var knownSchema: Int
    var problems: [String]?
    var isHeld: Bool
    var newestReceived: Timestamp?
    /// The newest positions of entities, WGS 84.
    var places: [Coordinate]
    var callbacks: [WaitingAlarms]
    var access: [VehicleAccessFacts]
    var fleet: FleetFacts
}

/// The alarms of a service that wait to be sent to its URL.
struct WaitingAlarms: Sendable {
    var service: ServiceID
    var target: CallbackTarget
    var count: Int
    var firstTried: Timestamp?
}

/// Why a store cannot be looked at.
struct StoreObstacle: Error {
    var detail: String
    /// This user may not.
    var isForbidden: Bool
}
