internal import AgentControl
internal import AgentLogic
internal import AlarmLog
package import ConfigurationFile
internal import Glibc
package import MetricsText
package import SecureLink
package import TrackModel

/// What the configuration file says; config/agent.toml documents every key with unit, default and range.
package struct AgentConfiguration: Sendable {
    package struct Server: Hashable, Sendable {
        package var host: String
        package var port: Int
        /// The name the certificate must carry.
        package var name: String
        package var certificateAuthorityFile: String?
        package var pinnedKey: PublicKeyPin?
        package var clientCertificateFile: String?
        /// A file, or a store URI.
        package var clientKey: String?
        /// For a store URI: the file with its PIN, the PKCS#11 module, and what opens it.
        package var clientKeyPINFile: String? = nil
        package var clientKeyModule: String? = nil
        package var clientKeyProvider: String? = nil
        package var minimumTLS: MinimumTLS
        /// Where `saker renew` asks for the next certificate. The agent itself does not ask there.
        package var webAddress: String? = nil
    }

    package struct Service: Hashable, Sendable {
        package var id: ServiceID
        package var accessKey: Secret
        package var applicationCode: Secret?
        package var entity: String
        package var isStartedAtFirstBoot: Bool
        /// Whether a live hint goes ahead of a backlog.
        package var sendsLiveHint: Bool
        /// Why a file with a secret cannot be used, so that no login is possible; nil when all can.
        package var secretTrouble: String?
        /// Names the enrolment that wrote the file; nil: a person wrote it.
        package var enrollment: String? = nil
    }

    package struct GNSS: Hashable, Sendable {
        package var host: String
        package var port: Int
        package var device: String?
        /// Keep the watch open while the service runs without gathering, so that the next start has a fix at once.
        package var isKeptOpen: Bool
        /// The system clock, while it is kept, judges the dates of fixes.
        package var usesSystemClock = true
    }

    package struct Cache: Hashable, Sendable {
        package var directory: String
        /// Bytes; nil for no limit.
        package var limit: Int?
        /// Seconds; 0 syncs every point.
        package var syncInterval: Double
    }

    package struct Parking: Hashable, Sendable {
        /// Seconds without movement after which few points are made; nil: off.
        package var delay: Int?
        /// Seconds between points while parked.
        package var interval: Int
    }

    package struct Control: Hashable, Sendable {
        package var socket: String
        package var group: String
    }

    package struct Hooks: Hashable, Sendable {
        package var directory: String
        /// Kinds of events that hooks run for.
        package var events: [String]
        /// Seconds that a hook may take.
        package var timeLimit: Int
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
    package var parking: Parking
    package var control: Control
    /// Bytes that the alarm journal may have.
    package var alarmJournalLimit: Int
    /// Nil: no hooks are run.
    package var hooks: Hooks?
    package var stateDirectory: String
    package var logLevel: LogLevel
    package var metrics: Metrics
    /// The values from the file and the defaults, for `--print-config`.
    package var effective: EffectiveConfiguration

    /// Bytes: two segments.
    package static let minimumCacheLimit = 2 << 20

    /// Reads a file; throws everything that is wrong with it at once.
    ///
    /// `needsSecrets` false: a file with the access key or the app code that cannot be used is
    /// ``Service/secretTrouble`` and no error.
    package static func load(
        path: String, needsSecrets: Bool = true
    ) throws(ConfigurationError) -> AgentConfiguration {
        var reader = try ConfigurationReader(path: path)
        if !needsSecrets { reader.tolerateUnusableSecrets() }
        return try read(reader)
    }

    /// The same from a text. Paths in the text are relative to the reader's path.
    package static func read(_ opened: ConfigurationReader) throws(ConfigurationError) -> AgentConfiguration {
        var reader = opened
        let server = readServer(&reader)
        let service = readService(&reader, hasCertificate: server.clientCertificateFile != nil)
        let gnss = GNSS(
            host: reader.host("gnss", "host", default: "127.0.0.1"),
            port: reader.integer("gnss", "port", default: 2947, range: 1...65535),
            device: reader.optionalString("gnss", "device"),
            isKeptOpen: reader.boolean("gnss", "keep_open", default: false),
            usesSystemClock: reader.boolean("gnss", "system_clock", default: true))
        let cache = readCache(&reader)
        let parking = readParking(&reader)
        let control = Control(
            socket: reader.string("control", "socket", default: "/run/saker/agent.varlink"),
            group: reader.string("control", "group", default: "saker"))
        let journalLimit = reader.integer(
            "alarms", "journal_limit", default: AlarmJournal.Options.defaultLimit, range: AlarmJournal.Options.limits,
            unit: "bytes")
        let hooks = readHooks(&reader)
        let state = reader.string("state", "directory", default: "/var/lib/saker")
        let level = reader.choice("log", "level", default: LogLevel.info)
        let metrics = readMetrics(&reader)
        let effective = try reader.finish()
        guard let service else {
            // Unreachable by construction: each way to a nil service has recorded a problem, so finish() has thrown.
            throw ConfigurationError(.invalid, file: effective.path, "[service] is incomplete")
        }
        return AgentConfiguration(
            server: server, service: service, gnss: gnss, cache: cache, parking: parking, control: control,
            alarmJournalLimit: journalLimit, hooks: hooks, stateDirectory: state, logLevel: level, metrics: metrics,
            effective: effective)
    }

    private static func readServer(_ reader: inout ConfigurationReader) -> Server {
        let host = reader.requiredHost("server", "host", hint: "the name or address of the server")
        let port = reader.integer("server", "port", default: 7443, range: 1...65535)
        let name = reader.optionalHost("server", "server_name")
        let authority = reader.optionalString("server", "ca_file")
        let pin = readPin(&reader)
        let certificate = reader.optionalString("server", "client_certificate")
        let key = reader.optionalString("server", "client_key")
        if (certificate == nil) != (key == nil) {
            reader.requireMissing(
                "server", certificate == nil ? "client_certificate" : "client_key",
                hint: "client_certificate and client_key go together")
        }
        // A key may be a store URI ("pkcs11:…"); only a file's path can be relative to the configuration.
        let keyPlace = key.map { $0.contains(":") ? $0 : reader.resolve($0) }
        let pinFile = reader.optionalString("server", "client_key_pin_file")
        let module = reader.optionalString("server", "client_key_module")
        let provider = reader.optionalString("server", "client_key_provider")
        if key?.contains(":") == true {
            refusePIN(in: key ?? "", &reader)
        } else {
            for (name, value) in [
                ("client_key_pin_file", pinFile), ("client_key_module", module), ("client_key_provider", provider),
            ] where value != nil {
                reader.reject("server", name, "\(name) is for a client_key that is a store URI (\"pkcs11:…\")")
            }
        }
        let web = reader.optionalWebAddress("server", "web_address")
        return Server(
            host: host, port: port, name: name ?? host, certificateAuthorityFile: authority.map { reader.resolve($0) },
            pinnedKey: pin, clientCertificateFile: certificate.map { reader.resolve($0) }, clientKey: keyPlace,
            clientKeyPINFile: pinFile.map { reader.resolve($0) } ?? credentialFile(named: "token-pin"),
            clientKeyModule: module.map { reader.resolve($0) }, clientKeyProvider: provider,
            minimumTLS: reader.choice("server", "minimum_tls", default: .v13), webAddress: web)
    }

    private static func readPin(_ reader: inout ConfigurationReader) -> PublicKeyPin? {
        guard let text = reader.optionalString("server", "pinned_key") else { return nil }
        do throws(SecureLinkError) {
            return try PublicKeyPin(parsing: text)
        } catch {
            reader.reject("server", "pinned_key", error.detail)
            return nil
        }
    }

    /// The configuration is printed and told; a PIN in it would be too.
    private static func refusePIN(in uri: String, _ reader: inout ConfigurationReader) {
        let attributes = uri.split { ";?&:".contains($0) }.map { $0.prefix { $0 != "=" }.lowercased() }
        guard attributes.contains(where: { ["pin-value", "pin", "password"].contains($0) }) else { return }
        reader.reject(
            "server", "client_key",
            "client_key holds a PIN: put it into a file that only the agent may read, and name that as client_key_pin_file"
        )
    }

    /// A credential of systemd's that holds anything: the unit makes a blank one where there is none.
    private static func credentialFile(named name: String) -> String? {
        guard let directory = getenv("CREDENTIALS_DIRECTORY") else { return nil }
        let path = String(cString: directory) + "/" + name
        var status = stat()
        return stat(path, &status) == 0 && status.st_size > 1 ? path : nil
    }

    private static func readService(
        _ reader: inout ConfigurationReader, hasCertificate: Bool
    ) -> Service? {
        let number = reader.optionalInteger("service", "id", range: 1...Int(Int32.max))
        if number == nil {
            reader.requireMissing("service", "id", hint: "the number that saker-server gave the service")
        }
        // A vehicle with a certificate of its own needs no key of the fleet.
        let accessKey = secret("ak", credential: "ak", &reader) ?? (hasCertificate ? Secret("") : nil)
        if accessKey == nil {
            reader.requireMissing(
                "service", "ak_file",
                hint: "name the file with the access key, or let `saker enroll` write both; a vehicle with "
                    + "client_certificate in [server] may do without")
        }
        let applicationCode = secret("app_code", credential: "app-code", &reader)
        let trouble = reader.secretTroubles.isEmpty ? nil : reader.secretTroubles.joined(separator: "; ")
        let entity = reader.optionalString("service", "entity") ?? hostName()
        if let problem = EntityName.problem(with: entity) {
            reader.reject("service", "entity", "entity = \"\(entity)\": \(problem)")
        }
        let autostart = reader.boolean("service", "autostart", default: true)
        let sendsLiveHint = reader.boolean("service", "live_hint", default: true)
        let enrollment = reader.optionalString("service", "enrollment")
        guard let number, let id = ServiceID(rawValue: Int64(number)),
            let accessKey = accessKey ?? trouble.map({ _ in Secret("") })
        else { return nil }
        return Service(
            id: id, accessKey: accessKey, applicationCode: applicationCode, entity: entity,
            isStartedAtFirstBoot: autostart, sendsLiveHint: sendsLiveHint, secretTrouble: trouble,
            enrollment: enrollment)
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
        if !directory.hasPrefix("/") {
            reader.reject("cache", "directory", "directory = \"\(directory)\": it must begin with /")
        }
        let limit = reader.integer("cache", "limit", default: 256 << 20, range: 0...(1 << 50), unit: "bytes")
        if limit != 0, limit < minimumCacheLimit {
            reader.reject(
                "cache", "limit", "limit = \(limit): it must be 0 (no limit) or at least \(minimumCacheLimit) bytes")
        }
        let interval = reader.number("cache", "sync_interval", default: 0, range: 0...3600, unit: "seconds")
        return Cache(directory: directory, limit: limit == 0 ? nil : limit, syncInterval: interval)
    }

    private static func readParking(_ reader: inout ConfigurationReader) -> Parking {
        let delays = ParkingOptions.delays
        let delay = reader.integer("parking", "delay", default: 0, range: 0...delays.upperBound, unit: "seconds")
        if delay != 0, delay < delays.lowerBound {
            reader.reject(
                "parking", "delay", "delay = \(delay): it must be 0 (off) or at least \(delays.lowerBound) seconds")
        }
        let interval = reader.integer(
            "parking", "interval", default: ParkingOptions.defaultInterval, range: ParkingOptions.intervals,
            unit: "seconds")
        return Parking(delay: delay == 0 ? nil : delay, interval: interval)
    }

    private static func readHooks(_ reader: inout ConfigurationReader) -> Hooks? {
        let directory = reader.optionalString("hooks", "directory")
        let events = reader.strings("hooks", "events", default: ["alarm"])
        let limit = reader.integer("hooks", "time_limit", default: 30, range: 1...3600, unit: "seconds")
        let known = AgentEvent.Change.hookKinds
        for event in events where !known.contains(event) {
            reader.reject(
                "hooks", "events", "events holds \"\(event)\": hooks are run for \(known.joined(separator: ", "))")
        }
        guard let directory else { return nil }
        return Hooks(directory: reader.resolve(directory), events: events, timeLimit: limit)
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

extension AgentEvent.Change {
    /// The kinds that hooks may be run for; alarms are told apart from the others.
    static let hookKinds = ["alarm", "cache", "connection", "feed", "gather", "loss", "service"]
}
