import AgentControl
import Varlink

/// What the probes have found. The checks use nothing else.
struct Facts: Hashable, Sendable {
    enum Answer: Hashable {
        case status(AgentStatus)
        /// Why it cannot be asked.
        case silent(VarlinkClientError.Code, String)
        /// The agent answered, but not with a status.
        case refused(String)
    }

    var socket: String
    var answer: Answer
    /// Nil where systemd does not run the machine.
    var unit: UnitFacts?
    /// Where sakerd is; nil when it is not found.
    var program: String?
    var user: UserFacts
    var configurationPath: String
    var configuration: ConfigurationFacts
    /// Nil when it is not known where gpsd is.
    var gpsd: GPSDFacts?
    /// Serial ports of this machine that a receiver may be on.
    var serialPorts: [String] = []
    var clock = ClockFacts()
    var server: FleetServerFacts?
    var certificates: [ClientCertificateFacts] = []
    /// Nil when this vehicle has no certificate of its own.
    var identity: IdentityFacts?
    /// Of the cache's file system; nil when it cannot be asked.
    var disk: VehicleDiskFacts?
    var files: [FileFacts] = []

    var status: AgentStatus? { if case .status(let status) = answer { status } else { nil } }
}

/// What systemd says of sakerd.service.
struct UnitFacts: Hashable {
    /// As in `loaded`, `not-found`.
    var load: String
    /// As in `active`, `inactive`, `failed`, `activating`.
    var active: String
    /// As in `success`, `exit-code`, `watchdog`.
    var result: String
    var restarts: Int
}

/// The user who runs the command.
struct UserFacts: Hashable {
    var name: String
    var isRoot: Bool
    /// The groups of the group file. The session may be older than the file.
    var isInGroup: Bool
}

enum ConfigurationFacts: Hashable {
    case missing
    /// This user may not read it.
    case forbidden
    /// What is wrong, a sentence each; the places when they could be read.
    case invalid([String], ConfiguredPlaces?)
    /// The file was read, but there is no sakerd to judge it.
    case unjudged(ConfiguredPlaces, String)
    case valid(ConfiguredPlaces, warnings: [String])

    var places: ConfiguredPlaces? {
        switch self {
        case .missing, .forbidden: nil
        case .invalid(_, let places): places
        case .unjudged(let places, _), .valid(let places, _): places
        }
    }
}

/// The places that a configuration names.
struct ConfiguredPlaces: Hashable {
    var host: String
    var port: Int
    var authorityFile: String?
    var clientCertificateFile: String?
    var gpsdHost: String
    var gpsdPort: Int
    var device: String?
    var cacheDirectory: String
    var stateDirectory: String
    /// Files that hold secrets.
    var credentials: [String]
}

struct GPSDFacts: Hashable {
    struct Device: Hashable {
        var path: String
        /// What gpsd takes it for; empty before it has spoken.
        var driver: String
    }

    struct Fix: Hashable {
        /// 0 and 1: none.
        var mode: Int64
        /// Metres.
        var accuracy: Double?
    }

    enum Result: Hashable {
        case unreachable(String)
        /// Something else answers; how it begins.
        case foreign(String)
        case answers(release: String, devices: [Device], fix: Fix?)
    }

    var host: String
    var port: Int
    var result: Result

    var place: String { "\(host):\(port)" }
}

/// Milliseconds, all of them; differences are positive when the other clock is ahead.
struct ClockFacts: Hashable {
    /// Nil when nobody can say.
    var isSynchronised: Bool?
    /// Since 1970.
    var time: Int64 = 0
    var serverDifference: Int64?
    var receiverDifference: Int64?
}

struct FleetServerFacts: Hashable {
    enum Resolution: Hashable {
        case addresses([String])
        case failed(String)
        case timeout
    }

    enum Connection: Hashable {
        /// After so many milliseconds.
        case made(Int64)
        /// The other machine says no.
        case refused(String)
        case failed(String)
    }

    var host: String
    var port: Int
    var resolution: Resolution
    /// Nil when there was no address to try.
    var connection: Connection?

    var place: String { "\(host):\(port)" }
}

struct ClientCertificateFacts: Hashable {
    enum Content: Hashable {
        /// Seconds since 1970: the latest beginning and the earliest end of those in the file.
        case validity(from: Int64, until: Int64)
        case forbidden
        case unreadable(String)
    }

    var path: String
    var content: Content
}

/// Bytes.
struct VehicleDiskFacts: Hashable {
    var directory: String
    var free: Int64
    var total: Int64
    var isReadOnly: Bool
}

struct FileFacts: Hashable {
    enum Role: Hashable {
        case credential
        /// A directory that the agent writes to.
        case writable
        /// The configuration, which the agent reads.
        case readable
        /// The agent's control socket.
        case socket
    }

    enum Found: Hashable {
        case missing
        /// This user may not look.
        case hidden
        /// Something else stands there: no directory for `writable`, no socket for `socket`.
        case inTheWay
        case mode(UInt32, owner: UInt32, group: UInt32 = 0)
    }

    var path: String
    var role: Role
    var found: Found
    /// The agent's user; nil when it is not known.
    var agentUser: UInt32?
    var agentGroup: UInt32?
}
