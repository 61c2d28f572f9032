import ConfigurationFile
import Foundation
import Ingest
import MetricsText
import Testing
import TrackModel

@testable import ServerRuntime

/// Keys without a default: what stands in the sample is an example.
private let examples: Set<String> = [
    "enrollment.host", "enrollment.port", "enrollment.web_address", "metrics.listen", "tls.ca",
    "device.client_ca", "device.authority", "device.authority_key", "exports.directory", "store.key_file", "roads.url",
    "callbacks.ca",
]

private func read(_ text: String) throws -> ServerConfiguration {
    try ServerConfiguration.read(ConfigurationReader(text: text, path: "/srv/saker/server.toml"))
}

/// `table.key` of every line that sets one, also of commented ones.
private func keys(in text: String) -> [String] {
    var table = ""
    var keys: [String] = []
    for line in text.split(separator: "\n") {
        if line.hasPrefix("["), let name = line.dropFirst().split(separator: "]").first { table = String(name) }
        if let match = line.wholeMatch(of: /#? ?([a-z_0-9]+) = .*/) { keys.append("\(table).\(match.1)") }
    }
    return keys
}

@Suite("The server's configuration")
struct ServerConfigurationTests {
    @Test func everyKeyIsInTheSampleAndEveryKeyOfTheSampleIsKnown() throws {
        let known = try read("").effective.entries.map { "\($0.table).\($0.key)" }
        #expect(Set(keys(in: ServerSample.text)) == Set(known))
        #expect(Set(known).count == known.count)
    }

    @Test func whatTheSampleShowsIsTheDefault() throws {
        let sample = ServerSample.text.split(separator: "\n").map { line in
            line.wholeMatch(of: /# [a-z_0-9]+ = .*/) == nil ? String(line) : String(line.dropFirst(2))
        }
        let defaults = try read("").effective.entries
        let shown = try read(sample.joined(separator: "\n")).effective.entries
        #expect(shown.count == defaults.count)
        for (shown, entry) in zip(shown, defaults) where !examples.contains("\(entry.table).\(entry.key)") {
            #expect(!shown.isDefault)
            #expect(shown.value == entry.value)
        }
    }

    @Test func theInstalledFileIsTheSample() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../config/server.toml"
        ).standardizedFileURL
        #expect(try String(contentsOf: file, encoding: .utf8) == ServerSample.text)
    }

    @Test func agentsAskAboutTheirOwnEntityUnlessTheOperatorSaysMore() throws {
        #expect(try read("").gateway.callPolicy == .entity)
        #expect(try read("[gateway]\ncall_policy = \"service\"").gateway.callPolicy == .service)
        #expect(throws: ConfigurationError.self) { try read("[gateway]\ncall_policy = \"all\"") }
    }

    @Test func theWebPortsHaveLimits() throws {
        let usual = try read("").web
        #expect(usual.connectionsPerAddress == 100)
        #expect(usual.bytesWithoutKey == 64 << 20 && usual.bytesWithKey == 256 << 20)
        let given = try read(
            "[web]\nconnections_per_address = 7\nbytes_without_key = 16777216\nbytes_with_key = 16777217"
        ).web
        #expect(
            given.connectionsPerAddress == 7 && given.bytesWithoutKey == 16_777_216 && given.bytesWithKey == 16_777_217)
        // A body alone has 8 MiB.
        for key in ["bytes_without_key", "bytes_with_key"] {
            #expect(throws: ConfigurationError.self) { try read("[web]\n\(key) = 8388608") }
        }
        #expect(throws: ConfigurationError.self) { try read("[web]\nconnections_per_address = 0") }
    }

    @Test func metricsAreOfferedWhereTheOperatorSays() throws {
        #expect(try read("").metrics == nil)
        #expect(try read("[metrics]\nlisten = \"10.0.0.5:9443\"").metrics?.isLocal == false)
        #expect(try read("[metrics]\nlisten = \"/run/m.sock\"").metrics?.isLocal == true)
        #expect(throws: ConfigurationError.self) { try read("[metrics]\nlisten = \"9443\"") }
        #expect(throws: ConfigurationError.self) { try read("[metrics]\nlisten = \"tracks.example.net:9443\"") }
    }

    @Test func roadsAreAskedWhereTheOperatorSays() throws {
        #expect(try read("[roads]\ntimeout = 500").roads == nil)
        let roads = try #require(try read("[roads]\nurl = \"http://127.0.0.1:8002/\"").roads)
        #expect(roads.url == "http://127.0.0.1:8002" && roads.timeout == 2000 && roads.requestTimeout == 2500)
        #expect(roads.concurrency == 4 && roads.drivingCosting == .auto && roads.showsGrades)
        #expect(roads.attribution == "© OpenStreetMap contributors")
        for url in ["https://roads.example.net/eu", "http://[::1]:8002"] {
            #expect(try read("[roads]\nurl = \"\(url)\"").roads?.url == url)
        }
        for url in ["127.0.0.1:8002", "ftp://h", "http://", "http://h:0", "http://u@h", "http://h h", "http://[::1"] {
            #expect(throws: ConfigurationError.self, "\(url)") { try read("[roads]\nurl = \"\(url)\"") }
        }
        #expect(throws: ConfigurationError.self) { try read("[roads]\ndriving_costing = \"car\"") }
    }

    @Test func theStatusOfWhatIsNotThereIsOneOfTwo() throws {
        #expect(try !read("").api.deletesUnknownEntities && read("").api.emptyListStatus == 3003)
        #expect(try read("[api]\nunknown_entity_status = 0").api.deletesUnknownEntities)
        for key in ["unknown_entity_status", "empty_list_status"] {
            let error = #expect(throws: ConfigurationError.self) { try read("[api]\n\(key) = 1") }
            #expect(error?.detail.contains("\(key) = 1: it must be 3003 or 0") == true, "\(error?.detail ?? "")")
        }
    }

    @Test func theAnalysisOfTracksHasItsTable() throws {
        let usual = try read("").analysis
        #expect(usual.kilometresAnHour == 200 && usual.transportMode == .driving && usual.supplementFactor == 1)
        #expect(usual.keptBytes == 64 << 20)
        let given = try read(
            "[analysis]\nspeed_cap_kmh = 1200\ntransport_mode = \"detect\"\nsupplement_factor = 1.3\nkept_bytes = 0"
        ).analysis
        #expect(given.kilometresAnHour == 1200 && given.transportMode == .detect)
        #expect(given.supplementFactor == 1.3 && given.keptBytes == 0)
        for line in [
            "speed_cap_kmh = 19", "speed_cap_kmh = 1201", "speed_cap_kmh = 200.5", "transport_mode = \"auto\"",
            "supplement_factor = 0.9", "supplement_factor = 5.1", "supplement_factor = nan", "kept_bytes = -1",
            "kept_bytes = 1099511627777", "speed_cap = 200",
        ] {
            let error = #expect(throws: ConfigurationError.self) { try read("[analysis]\n\(line)") }
            let key = line.prefix { $0 != " " }
            #expect(error?.detail.contains(key) == true, "\(error?.detail ?? "")")
        }
    }

    @Test func fileNamesStartFromTheFilesOwnDirectory() throws {
        let configuration = try read("[tls]\nkey = \"/etc/key.pem\"\nca = \"ca.pem\"")
        #expect(configuration.store.path == "/srv/saker/tracks.sqlite")
        #expect(configuration.tls.certificate == "/srv/saker/server.pem")
        #expect(configuration.tls.key == "/etc/key.pem")
        #expect(configuration.tls.authority == "/srv/saker/ca.pem")
    }

    @Test func zeroTurnsOffAndListenersMayBeLeftOut() throws {
        let configuration = try read(
            "[web]\nhttp = false\n[store]\nmerge_interval = 0\nretention_days = 0\nmaximum_bytes = 0\n[api]\nmaximum_age = 0\nempty_list_status = 0"
        )
        #expect(configuration.web.http == nil)
        #expect(configuration.web.https != nil)
        #expect(configuration.store.mergeInterval == nil)
        #expect(configuration.store.retentionDays == nil)
        #expect(configuration.store.maximumBytes == nil)
        #expect(configuration.api.maximumAge == nil)
        #expect(configuration.api.emptyListStatus == 0)
    }

    @Test func everyMistakeIsNamed() {
        do {
            _ = try read(
                "[device]\nport = 70000\nhots = \"x\"\n[api]\nempty_list_status = 1\n[web]\nminimum_tls = \"1.1\"")
            Issue.record("nothing was refused")
        } catch let error as ConfigurationError {
            #expect(
                error.problems.map(\.description) == [
                    "/srv/saker/server.toml:2: port = 70000: it must be 0...65535",
                    "/srv/saker/server.toml:3: unknown key hots in [device]: did you mean host?",
                    "/srv/saker/server.toml:5: empty_list_status = 1: it must be 3003 or 0",
                    "/srv/saker/server.toml:7: minimum_tls = \"1.1\": it must be one of \"1.2\", \"1.3\" (did you mean \"1.2\"?)",
                ])
        } catch {
            Issue.record(error)
        }
    }

    @Test func settingAKeyOfTheSampleChangesThatKeyOnly() throws {
        let text = ServerSample.text(setting: [
            ("device", "port", "1"), ("enrollment", "port", "2"), ("tls", "ca", "\"c\""),
        ])
        let changed = try read(text).effective.entries.filter { !$0.isDefault }
        #expect(
            changed.map { "\($0.table).\($0.key)=\($0.value ?? "")" } == [
                "device.port=1", "tls.ca=\"c\"", "enrollment.port=2",
            ])
    }

    // MARK: Enrolment

    private func enrolment(_ text: String) throws -> EnrolmentString {
        let service = try #require(ServiceID(rawValue: 3))
        return try read(text).enrolmentString(service: service, accessKey: Secret("k"))
    }

    @Test func enrolmentStringsTellWhatTheConfigurationSays() throws {
        let usual = try enrolment("[enrollment]\nhost = \"tracks.example.net\"")
        #expect(usual.host == "tracks.example.net")
        #expect(usual.port == 7443)
        #expect(usual.webAddress == "https://tracks.example.net:8443")
        #expect(usual.trust == .system)
        let mapped = try enrolment("[enrollment]\nhost = \"2001:db8::7\"\nport = 443\n[web]\nhttps_port = 9")
        #expect(mapped.port == 443)
        #expect(mapped.webAddress == "https://[2001:db8::7]:9")
        #expect(try enrolment("[enrollment]\nhost = \"h\"\n[web]\nhttps = false").webAddress == nil)
        #expect(try enrolment("[enrollment]\nhost = \"h\"\nweb_address = \"https://w\"").webAddress == "https://w")
        let copied = "[enrollment]\nhost = \"h\"\nweb_address = \"https://w:9/api/v3\""
        #expect(try enrolment(copied).webAddress == "https://w:9")
    }

    /// The agents would refuse a configuration with such an address.
    @Test(arguments: ["http://tracks.lan:8080", "http://localhost", "https://h:99999", "tracks.example.net"])
    func aWebAddressThatVehiclesCannotUseIsRefused(address: String) {
        let error = #expect(throws: ConfigurationError.self) { try read("[enrollment]\nweb_address = \"\(address)\"") }
        #expect(error?.detail.contains(address) == true)
    }

    @Test func whatAnEnrolmentStringCannotSayIsExplained() {
        #expect(throws: ServerError(.configuration, "")) { try enrolment("") }
        #expect(throws: ServerError(.configuration, "")) {
            try enrolment("[enrollment]\nhost = \"h\"\n[device]\nport = 0")
        }
        #expect(throws: ServerError(.notFound, "")) {
            try enrolment("[enrollment]\nhost = \"h\"\n[tls]\nca = \"none.pem\"")
        }
    }
}
