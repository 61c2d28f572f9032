package import ConfigurationFile
package import Exposition
internal import Glibc
package import TrackModel

/// What the configuration file says; config/agent.toml documents every key with unit, default and range.
package struct AgentConfiguration: Sendable {
    package struct Server: Hashable, Sendable {
        package var host: String
        package var port: Int
        /// The name the certificate must carry.
        package var name: String
        package var certificateAuthorityFile: String?
        package var pinnedKey: String?
        package var clientCertificateFile: String?
        package var clientKey: String?
        package var minimumTLS: MinimumTLS
    }

    package enum MinimumTLS: String, CaseIterable, Sendable {
        case v12 = "1.2"
        case v13 = "1.3"
    }

    package struct Service: Hashable, Sendable {
        package var id: ServiceID
        package var accessKey: Secret
        package var applicationCode: Secret?
        package var entity: String
        package var isStartedAtFirstBoot: Bool
    }

    package struct GNSS: Hashable, Sendable {
        package var host: String
        package var port: Int
        package var device: String?
        /// Keep the watch open while the service runs without gathering, so that the next start has a fix at once.
        package var isKeptOpen: Bool
    }

    package struct Cache: Hashable, Sendable {
        package var directory: String
        /// Bytes; nil for no limit.
        package var limit: Int?
        /// Seconds; 0 syncs every point.
        package var syncInterval: Double
    }

    package struct Control: Hashable, Sendable {
        package var socket: String
        package var group: String
    }

    /// Where numbers for monitoring go; nowhere unless asked.
    package struct Metrics: Hashable, Sendable {
        /// For node_exporter's textfile collector.
        package var textfile: String?
        /// Seconds between two writes of the text file.
        package var interval: Int
        /// On this machine alone.
        package var listen: MetricsAddress?
    }

    package enum LogLevel: String, CaseIterable, Sendable {
        case trace, debug, info, notice, warning, error, critical
    }

    package var server: Server
    package var service: Service
    package var gnss: GNSS
    package var cache: Cache
    package var control: Control
    package var stateDirectory: String
    package var logLevel: LogLevel
    package var metrics: Metrics
    /// What the file and the defaults come to, for `--print-config`.
    package var effective: EffectiveConfiguration

    /// Bytes: two segments.
    package static let minimumCacheLimit = 2 << 20

    /// Reads a file; throws everything that is wrong with it at once.
    package static func load(path: String) throws(ConfigurationError) -> AgentConfiguration {
        try read(ConfigurationReader(path: path))
    }

    /// The same from a text; what it names is relative to the reader's path.
    package static func read(_ opened: ConfigurationReader) throws(ConfigurationError) -> AgentConfiguration {
        var reader = opened
        let server = readServer(&reader)
        let service = readService(&reader)
        let gnss = GNSS(
            host: reader.string("gnss", "host", default: "127.0.0.1"),
            port: reader.integer("gnss", "port", default: 2947, range: 1...65535),
            device: reader.optionalString("gnss", "device"),
            isKeptOpen: reader.boolean("gnss", "keep_open", default: false))
        let cache = readCache(&reader)
        let control = Control(
            socket: reader.string("control", "socket", default: "/run/saker/agent.varlink"),
            group: reader.string("control", "group", default: "saker"))
        let state = reader.string("state", "directory", default: "/var/lib/saker")
        let level = reader.choice("log", "level", default: LogLevel.info)
        let metrics = readMetrics(&reader)
        let effective = try reader.finish()
        guard let service else {
            // Unreachable by construction: each way to a nil service has recorded a problem, so finish() has thrown.
            throw ConfigurationError(.invalid, file: effective.path, "[service] is incomplete")
        }
        return AgentConfiguration(
            server: server, service: service, gnss: gnss, cache: cache, control: control, stateDirectory: state,
            logLevel: level, metrics: metrics, effective: effective)
    }

    private static func readServer(_ reader: inout ConfigurationReader) -> Server {
        let host = reader.requiredString("server", "host", hint: "the name or address of the server")
        let port = reader.integer("server", "port", default: 7443, range: 1...65535)
        let name = reader.optionalString("server", "server_name")
        let authority = reader.optionalString("server", "ca_file")
        let pin = reader.optionalString("server", "pinned_key")
        let certificate = reader.optionalString("server", "client_certificate")
        let key = reader.optionalString("server", "client_key")
        if (certificate == nil) != (key == nil) {
            reader.requireMissing(
                "server", certificate == nil ? "client_certificate" : "client_key",
                hint: "client_certificate and client_key go together")
        }
        // A key may be a store URI ("pkcs11:…"); only a file's path can be relative to the configuration.
        let keyPlace = key.map { $0.contains(":") ? $0 : reader.resolve($0) }
        return Server(
            host: host, port: port, name: name ?? host, certificateAuthorityFile: authority.map { reader.resolve($0) },
            pinnedKey: pin, clientCertificateFile: certificate.map { reader.resolve($0) }, clientKey: keyPlace,
            minimumTLS: reader.choice("server", "minimum_tls", default: .v13))
    }

    private static func readService(_ reader: inout ConfigurationReader) -> Service? {
        let number = reader.optionalInteger("service", "id", range: 1...Int(Int32.max))
        if number == nil {
            reader.requireMissing("service", "id", hint: "the number that saker-server gave the service")
        }
        let accessKey = secret("ak", credential: "ak", &reader)
        if accessKey == nil {
            reader.requireMissing(
                "service", "ak_file", hint: "name the file with the access key, or let `saker enroll` write both")
        }
        let applicationCode = secret("app_code", credential: "app-code", &reader)
        let entity = reader.optionalString("service", "entity") ?? hostName()
        if let problem = EntityName.problem(with: entity) {
            reader.reject("service", "entity", "entity = \"\(entity)\": \(problem)")
        }
        let autostart = reader.boolean("service", "autostart", default: true)
        guard let number, let id = ServiceID(rawValue: Int64(number)), let accessKey else { return nil }
        return Service(
            id: id, accessKey: accessKey, applicationCode: applicationCode, entity: entity,
            isStartedAtFirstBoot: autostart)
    }

    /// From the file, else from what systemd passed.
    private static func secret(_ key: String, credential: String, _ reader: inout ConfigurationReader) -> Secret? {
        if let secret = reader.secret("service", key) { return secret }
        do {
            return try Secret.credential(named: credential)
        } catch {
            reader.reject("service", "\(key)_file", error.detail)
            return nil
        }
    }

    private static func readCache(_ reader: inout ConfigurationReader) -> Cache {
        let directory = reader.string("cache", "directory", default: "/var/lib/saker/cache")
        let limit = reader.integer("cache", "limit", default: 256 << 20, range: 0...(1 << 50), unit: "bytes")
        if limit != 0, limit < minimumCacheLimit {
            reader.reject(
                "cache", "limit", "limit = \(limit): it must be 0 (no limit) or at least \(minimumCacheLimit) bytes")
        }
        let interval = reader.number("cache", "sync_interval", default: 0, range: 0...3600, unit: "seconds")
        return Cache(directory: directory, limit: limit == 0 ? nil : limit, syncInterval: interval)
    }

    private static func readMetrics(_ reader: inout ConfigurationReader) -> Metrics {
        let textfile = reader.optionalString("metrics", "textfile")
        if let textfile, !textfile.hasPrefix("/") || !textfile.hasSuffix(".prom") {
            reader.reject(
                "metrics", "textfile",
                "textfile = \"\(textfile)\": it must begin with / and end in .prom, or node_exporter does not read it")
        }
        let interval = reader.integer("metrics", "interval", default: 30, range: 1...3600, unit: "seconds")
        let listen = reader.optionalString("metrics", "listen")
        let address = listen.flatMap(MetricsAddress.init)
        if let listen, address == nil {
            reader.reject("metrics", "listen", "listen = \"\(listen)\": it must be \(MetricsAddress.rule)")
        } else if let address, !address.isLocal {
            reader.reject(
                "metrics", "listen",
                "listen = \"\(address)\": it must be an address of this machine alone (127.0.0.1, ::1 or a Unix socket), "
                    + "because anyone may read what is there; for other machines use textfile")
        }
        return Metrics(textfile: textfile, interval: interval, listen: address)
    }

    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
