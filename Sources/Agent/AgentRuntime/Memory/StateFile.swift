internal import AgentLogic
internal import ConfigurationFile
internal import FoundationEssentials
internal import Glibc
internal import TrackModel

/// What must survive a restart: the settings people made, and what the agent was told last.
package struct RememberedState: Codable, Hashable, Sendable {
    struct Target: Codable, Hashable, Sendable {
        var isServiceStarted: Bool
        var isGathering: Bool
        var entity: String?

        init(_ target: TargetState) {
            isServiceStarted = target.isServiceStarted
            isGathering = target.isGathering
            entity = target.entity
        }
    }

    /// The service's track columns as the last login told them.
    struct Columns: Codable, Hashable, Sendable {
        struct Column: Codable, Hashable, Sendable {
            var key: String
            /// A raw value of `AttributeType`.
            var type: String
        }

        var service: Int64
        var columns: [Column]

        init(_ columns: [AttributeColumn], of service: ServiceID) {
            self.service = service.rawValue
            self.columns = columns.map { Column(key: $0.key, type: $0.type.rawValue) }
        }

        /// Nil when they are another service's.
        func columns(of service: ServiceID) -> [AttributeColumn]? {
            guard self.service == service.rawValue else { return nil }
            return columns.compactMap { column in
                AttributeType(rawValue: column.type).map { AttributeColumn(key: column.key, type: $0) }
            }
        }
    }

    var version = 1
    /// Nil until somebody told the agent something.
    var target: Target?
    /// Nil while everything is at its default.
    var settings: RememberedSettings?
    /// Nil until the first login.
    var columns: Columns?
}

/// What was found of the remembered state.
package enum RememberedStateReading: Hashable {
    case absent
    case read(RememberedState)
    /// Not understood: put aside under this name, and the agent starts from its configuration.
    case putAside(String)
    case unreadable(String)
}

/// The file of the remembered state: JSON, replaced whole.
struct StateFile: StateKeeper {
    let path: String

    init(directory: String) {
        path = directory + "/state.json"
    }

    /// Bytes; the file has a few hundred, with all the columns there may be some 20,000.
    private static let maximumBytes = 65_536

    func read() -> RememberedStateReading {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            return errno == ENOENT
                ? .absent : .unreadable("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.maximumBytes)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { return .unreadable("\(path) cannot be read: \(String(cString: strerror(errno)))") }
        let state = try? JSONDecoder().decode(RememberedState.self, from: Data(bytes.prefix(count)))
        guard let state, state.version == 1 else {
            let aside = path + ".damaged"
            rename(path, aside)
            return .putAside(aside)
        }
        return .read(state)
    }

    /// Atomic: a power cut leaves the old file or the new one.
    func write(_ state: RememberedState) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data: Data
        do {
            data = try encoder.encode(state)
        } catch {
            throw ConfigurationError(.unwritable, file: path, "the state cannot be encoded")
        }
        try AtomicFile.write(data + [0x0A], to: path, mode: 0o600)
    }
}

extension TargetState {
    init(_ remembered: RememberedState.Target) {
        self.init(
            entity: remembered.entity, isServiceStarted: remembered.isServiceStarted,
            isGathering: remembered.isGathering)
    }
}
