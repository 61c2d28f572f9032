package import ConfigurationFile
import Glibc
import Ingest
import Logging
import MetricsText
import TrackModel
import TrackStore

extension ServerConfiguration {
    /// Reads a file, or the first of the usual ones; throws everything that is wrong with it at once.
    package static func load(path: String?) throws(ConfigurationError) -> ServerConfiguration {
        if let path { return try read(ConfigurationReader(path: path)) }
        guard let found = usualPaths.first(where: { access($0, F_OK) == 0 }) else {
            throw ConfigurationError(
                .unreadable, file: usualPaths[0],
                "there is no configuration here nor at \(usualPaths[1]): name one with --config, or make one with "
                    + "`saker-server init`")
        }
        return try read(ConfigurationReader(path: found))
    }

    static func read(_ opened: ConfigurationReader) throws(ConfigurationError) -> ServerConfiguration {
        var reader = opened
        let store = readStore(&reader)
        let device = readDevice(&reader)
        let gateway = Gateway(callPolicy: reader.choice("gateway", "call_policy", default: .entity))
        let web = readWeb(&reader)
        let api = readAPI(&reader)
        let callbacks = readCallbacks(&reader)
        let exports = readExports(&reader, beside: store.path)
        let roads = readRoads(&reader)
        let analysis = readAnalysis(&reader)
        let tls = readTLS(&reader)
        let enrolment = EnrolmentOptions(
            host: reader.optionalHost("enrollment", "host"),
            port: reader.optionalInteger("enrollment", "port", range: 1...65535),
            webAddress: reader.optionalWebAddress("enrollment", "web_address"))
        let metrics = readMetrics(&reader)
        let level = reader.choice("log", "level", default: Logger.Level.info)
        let limit = reader.integer("shutdown", "time_limit", default: 15, range: 1...600, unit: "s")
        return ServerConfiguration(
            store: store, device: device, gateway: gateway, web: web, api: api, callbacks: callbacks,
            exports: exports, roads: roads, analysis: analysis, tls: tls, enrolment: enrolment, logLevel: level,
            metrics: metrics,
            shutdownLimit: limit, effective: try reader.finish())
    }

    private static func readStore(_ reader: inout ConfigurationReader) -> Store {
        let path = reader.string("store", "path", default: "tracks.sqlite")
        let synchronous = reader.choice("store", "synchronous", default: Synchronous.full)
        let readers = reader.integer("store", "readers", default: 4, range: 1...64)
        let isChecked = reader.boolean("store", "check_at_start", default: true)
        let maximum = reader.integer("store", "maximum_bytes", default: 0, range: 0...(1 << 50), unit: "bytes")
        let merge = reader.integer("store", "merge_interval", default: 60, range: 0...86_400, unit: "s")
        let retention = reader.integer(
            "store", "retention_days", default: 0, range: 0...Retention.mostDays, unit: "days")
        let clockMayGoBack = reader.boolean("store", "clock_may_go_back", default: false)
        let keyFile = reader.optionalString("store", "key_file")
        return Store(
            path: reader.resolve(path), synchronous: synchronous, readers: readers, isCheckedAtStart: isChecked,
            maximumBytes: maximum == 0 ? nil : Int64(maximum), mergeInterval: merge == 0 ? nil : merge,
            retentionDays: retention == 0 ? nil : retention,
            clockMayGoBack: clockMayGoBack,
            keyFile: credential("store-key") ?? keyFile.map { reader.resolve($0) })
    }

    private static func readDevice(_ reader: inout ConfigurationReader) -> Device {
        let clients = reader.optionalString("device", "client_ca")
        let authority = reader.optionalString("device", "authority").map { reader.resolve($0) }
        let key = reader.optionalString("device", "authority_key").map { reader.resolve($0) }
        let folder = authority?.lastIndex(of: "/").flatMap { index in authority.map { String($0[...index]) } } ?? ""
        return Device(
            host: reader.host("device", "host", default: "0.0.0.0"),
            port: reader.integer("device", "port", default: 7443, range: 0...65535),
            minimumTLS: reader.choice("device", "minimum_tls", default: .v13),
            connections: reader.integer("device", "connections", default: 50_000, range: 1...1_000_000),
            connectionsPerAddress: reader.integer(
                "device", "connections_per_address", default: 10_000, range: 1...1_000_000),
            heartbeatInterval: reader.integer("device", "heartbeat_interval", default: 60, range: 10...3600, unit: "s"),
            clientAuthority: clients.map { reader.resolve($0) }, authority: authority,
            authorityKey: key ?? authority.map { _ in folder + Device.authorityKeyName })
    }

    private static func readWeb(_ reader: inout ConfigurationReader) -> Web {
        let https = Web.Listener(
            host: reader.host("web", "https_host", default: "0.0.0.0"),
            port: reader.integer("web", "https_port", default: 8443, range: 0...65535))
        let hasHTTPS = reader.boolean("web", "https", default: true)
        let http = Web.Listener(
            host: reader.host("web", "http_host", default: "127.0.0.1"),
            port: reader.integer("web", "http_port", default: 8080, range: 0...65535))
        let hasHTTP = reader.boolean("web", "http", default: true)
        return Web(
            https: hasHTTPS ? https : nil, http: hasHTTP ? http : nil,
            minimumTLS: reader.choice("web", "minimum_tls", default: .v12),
            timeout: reader.integer("web", "timeout", default: 30, range: 1...3600, unit: "s"),
            connections: reader.integer("web", "connections", default: 1000, range: 1...100_000),
            connectionsPerAddress: reader.integer("web", "connections_per_address", default: 100, range: 1...100_000),
            headerBytes: reader.integer("web", "header_bytes", default: 65_536, range: 1024...1_048_576, unit: "bytes"),
            bytesWithoutKey: reader.integer(
                "web", "bytes_without_key", default: 64 << 20, range: (16 << 20)...(1 << 40), unit: "bytes"),
            bytesWithKey: reader.integer(
                "web", "bytes_with_key", default: 256 << 20, range: (16 << 20)...(1 << 40), unit: "bytes"))
    }

    private static func readAPI(_ reader: inout ConfigurationReader) -> API {
        let zone = reader.integer("api", "utc_offset", default: 480, range: -1439...1439, unit: "min")
        let empty = readStatus("empty_list_status", &reader)
        let unknown = readStatus("unknown_entity_status", &reader)
        let strict = reader.boolean("api", "strict_methods", default: false)
        let future = reader.integer("api", "future_tolerance", default: 600, range: 0...86_400, unit: "s")
        let age = reader.integer("api", "maximum_age", default: 0, range: 0...3_153_600_000, unit: "s")
        let daily = reader.integer("api", "daily_quota", default: 0, range: 0...1_000_000_000)
        let concurrent = reader.integer("api", "concurrent_requests", default: 0, range: 0...100_000)
        return API(
            zoneMinutes: zone, emptyListStatus: empty, strictMethods: strict, futureTolerance: future,
            maximumAge: age == 0 ? nil : age,
            maximumRawPoints: reader.integer("api", "maximum_points", default: 200_000, range: 1...10_000_000),
            maximumProcessedPoints: reader.integer(
                "api", "maximum_processed_points", default: 20_000, range: 1...10_000_000),
            dailyQuota: daily == 0 ? nil : daily, concurrentRequests: concurrent == 0 ? nil : concurrent,
            hasFenceVerticesAsText: reader.boolean("api", "fence_vertexes_as_text", default: false),
            deletesUnknownEntities: unknown == 0)
    }

    /// 3003, as the published service answers, or 0.
    private static func readStatus(_ key: String, _ reader: inout ConfigurationReader) -> Int {
        let status = reader.integer("api", key, default: 3003, range: 0...3003)
        if status != 0, status != 3003 { reader.reject("api", key, "\(key) = \(status): it must be 3003 or 0") }
        return status
    }

    private static func readExports(_ reader: inout ConfigurationReader, beside store: String) -> Exports {
        let parent = store.lastIndex(of: "/").map { String(store[..<$0]) } ?? "."
        return Exports(
            directory: reader.optionalString("exports", "directory").map { reader.resolve($0) } ?? "\(parent)/exports",
            minimumAge: reader.integer("exports", "minimum_age", default: 21_600, range: 0...31_536_000, unit: "s"),
            arePublic: reader.boolean("exports", "public", default: false),
            hasTimesAsDigits: reader.boolean("exports", "times_as_digits", default: false),
            serviceLimit: reader.integer(
                "exports", "service_limit", default: 1024, range: 1...1_048_576, unit: "MiB"),
            limit: reader.integer("exports", "limit", default: 4096, range: 1...1_048_576, unit: "MiB"))
    }

    private static func readRoads(_ reader: inout ConfigurationReader) -> Roads? {
        let text = reader.optionalString("roads", "url")
        let roads = Roads(
            url: text.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? "",
            timeout: reader.integer("roads", "timeout", default: 2000, range: 100...60_000, unit: "ms"),
            requestTimeout: reader.integer("roads", "request_timeout", default: 2500, range: 100...60_000, unit: "ms"),
            concurrency: reader.integer("roads", "concurrency", default: 4, range: 1...64),
            drivingCosting: reader.choice("roads", "driving_costing", default: .auto),
            attribution: reader.string("roads", "attribution", default: "© OpenStreetMap contributors"),
            showsGrades: reader.boolean("roads", "road_grade", default: true))
        guard let text else { return nil }
        if let rule = RoadAddress.problem(with: roads.url) {
            reader.reject("roads", "url", "url = \"\(text)\": \(rule)")
        }
        return roads
    }

    private static func readAnalysis(_ reader: inout ConfigurationReader) -> Analysis {
        Analysis(
            kilometresAnHour: reader.integer("analysis", "speed_cap_kmh", default: 200, range: 20...1200, unit: "km/h"),
            transportMode: reader.choice("analysis", "transport_mode", default: .driving),
            supplementFactor: reader.number("analysis", "supplement_factor", default: 1, range: 1...5),
            keptBytes: reader.integer(
                "analysis", "kept_bytes", default: 64 << 20, range: 0...(1 << 40), unit: "bytes"))
    }

    private static func readCallbacks(_ reader: inout ConfigurationReader) -> Callbacks {
        let takesPrivate = reader.boolean("callbacks", "private_addresses", default: false)
        let authorities = reader.optionalString("callbacks", "ca")
        return Callbacks(
            takesPrivateAddresses: takesPrivate, authorities: authorities.map { reader.resolve($0) })
    }

    private static func readMetrics(_ reader: inout ConfigurationReader) -> MetricsAddress? {
        guard let listen = reader.optionalString("metrics", "listen") else { return nil }
        let address = MetricsAddress(listen)
        if address == nil {
            reader.reject("metrics", "listen", "listen = \"\(listen)\": it must be \(MetricsAddress.rule)")
        }
        return address
    }

    private static func readTLS(_ reader: inout ConfigurationReader) -> TLS {
        let certificate = reader.string("tls", "certificate", default: "server.pem")
        let key = reader.string("tls", "key", default: "server-key.pem")
        let authority = reader.optionalString("tls", "ca")
        // The unit hands the key over as a credential when the operator has put one there.
        return TLS(
            certificate: reader.resolve(certificate), key: credential("tls-key") ?? reader.resolve(key),
            authority: authority.map { reader.resolve($0) })
    }

    /// The file of a credential when it holds anything: the unit makes an empty one where there is none.
    private static func credential(_ name: String) -> String? {
        guard let directory = getenv("CREDENTIALS_DIRECTORY") else { return nil }
        let path = String(cString: directory) + "/\(name)"
        return FileStatus(of: path).map { $0.size > 1 } == true ? path : nil
    }
}

/// The base address of a road engine: `http://HOST:PORT`, perhaps with a path.
enum RoadAddress {
    /// The rule that the text breaks; nil when it is an address.
    static func problem(with text: String) -> String? {
        let bytes = Array(text.utf8)
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else {
            return "it must begin with http:// or https://"
        }
        guard bytes.count <= 1024,
            bytes.allSatisfy({ (0x21...0x7E).contains($0) && !"\"<>\\^`{|}#?@".utf8.contains($0) })
        else { return "it has at most 1024 characters of URLs, no user, no query and no #" }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" }
        let (host, port) = split(authority)
        if let rule = HostName.problem(with: host) { return "its host: \(rule)" }
        guard let port else { return nil }
        guard let number = Int(port), port.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            (1...65_535).contains(number)
        else { return "its port must be 1 to 65535" }
        return nil
    }

    private static func split(_ authority: Substring) -> (host: String, port: Substring?) {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            let rest = authority[authority.index(after: end)...]
            let host = String(authority[authority.index(after: authority.startIndex)..<end])
            return rest.isEmpty ? (host, nil) : rest.hasPrefix(":") ? (host, rest.dropFirst()) : ("", nil)
        }
        guard let colon = authority.lastIndex(of: ":") else { return (String(authority), nil) }
        return (String(authority[..<colon]), authority[authority.index(after: colon)...])
    }
}
