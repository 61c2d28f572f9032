import Diagnosing
import Ingest
import JSON
import RoadMatching
import Testing
import TrackModel
import TrackStore

@testable import ServerRuntime

/// The verdicts as functions of the facts.
@Suite struct ServerVerdictTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let subject: ServerSubject
        let verdict: Finding.Verdict
        let found: String
        let facts: ServerFacts

        init(
            _ title: String, _ subject: ServerSubject, _ verdict: Finding.Verdict, _ found: String = "",
            _ change: (inout ServerFacts) -> Void
        ) {
            (testDescription, self.subject, self.verdict, self.found) = (title, subject, verdict, found)
            var facts = healthy
            change(&facts)
            self.facts = facts
        }
    }

    private static let now = Timestamp(milliseconds: 1_798_000_000_000)
    private static let gibibyte: Int64 = 1 << 30
    static let disk = DiskFacts(
        directory: "/var/lib/saker-server", free: 100 * gibibyte, total: 200 * gibibyte, isReadOnly: false,
        kind: "ext4",
        sync: .done(3))
    static let content = StoreContent(
        path: "/s/tracks.sqlite", schema: 11, knownSchema: 11, bytes: 5 << 20, maximumBytes: nil, problems: [],
        heldFor: nil, newestReceived: now.adding(milliseconds: -1000), strangeFiles: [], owner: "saker-server")
    static let port = PortFacts(setting: "[device] port", place: "0.0.0.0:7443", found: .ours)

    static let healthy = ServerFacts(
        now: now, configurationPath: "/etc/saker/server.toml", warnings: [], isServed: true,
        certificates: CertificateFacts(
            path: "/s/server.pem", hosts: ["tracks.example.net", "*.example.org"], told: ["tracks.example.net"],
            files: [file(from: -10, until: 300)]),
        disks: [disk], store: .read(content), ports: [port], isClockKept: true,
        roads: .answers(version: "3.9.1", missing: [], tilesModified: 1_790_000_000, tiles: .known(8, of: 8)),
        callbacks: [callback()], access: [VehicleAccessFacts(service: 1, devices: 0, keys: [])],
        fleet: FleetFacts(vehicles: 12, troubles: [:]))

    /// Days from now.
    private static func file(
        from: Int64, until: Int64, use: String = CertificateProbe.chainUse
    ) -> CertificateFacts.File {
        .init(
            use: use, path: "/s/server.pem",
            content: .validity(from: now.seconds + from * 86_400, until: now.seconds + until * 86_400))
    }

    private static func callback(
        problem: String? = nil, waiting: Int = 0, failing: Int64? = nil
    ) -> CallbackFacts {
        CallbackFacts(
            service: 1, url: "https://alarms.example.net", waiting: waiting,
            failingSince: failing.map { now.milliseconds - $0 }, problem: problem)
    }

    private static func disk(_ change: (inout DiskFacts) -> Void) -> [DiskFacts] {
        var disk = disk
        change(&disk)
        return [disk]
    }

    private static func store(_ change: (inout StoreContent) -> Void) -> StoreFacts {
        var content = content
        change(&content)
        return .read(content)
    }

    private static func ports(_ found: PortFacts.Found) -> [PortFacts] {
        [port, PortFacts(setting: "[web] https_port", place: "0.0.0.0:8443", found: found)]
    }

    @Test func aHealthyServerPassesEveryCheckOnce() {
        let list = CheckList(Self.healthy)
        #expect(list.checks.map(\.subject) == ServerSubject.allCases)
        #expect(list.checks.filter { $0.finding.verdict != .ok } == [])
        #expect(list.lines().last == "12 ok. Nothing keeps this server from its work.")
        #expect(list.json["failed"] == 0 && list.json["checks"]?.arrayValue?.count == 12)
    }

    @Test(arguments: cases) func aVerdictFollowsFromTheFacts(_ given: Case) throws {
        let list = CheckList(given.facts)
        let check = try #require(list.checks.first { $0.subject == given.subject }).finding
        #expect(check.verdict == given.verdict, "\(check)")
        #expect(check.found.contains(given.found), "\(check)")
        // Each problem names its remedy.
        #expect(list.checks.map(\.finding).allSatisfy { [.ok, .notChecked].contains($0.verdict) || $0.remedy != nil })
        #expect(list.exitCode == (list.checks.contains { $0.finding.verdict == .failed } ? 1 : 0))
    }

    static let cases: [Case] = [
        Case("a readable secret", .configuration, .warning, "everyone") { $0.warnings = ["everyone may read key"] },
        Case("no server", .server, .warning, "no saker-server") { $0.isServed = false },
        Case("a lock that may not be seen", .server, .notChecked) { $0.isServed = nil },

        Case("a key of another certificate", .certificates, .failed, "belong") {
            $0.certificates.problem = "the key does not belong to the certificate"
        },
        Case("an end in the past", .certificates, .failed, "ended on") {
            $0.certificates.files = [file(from: -10, until: 0)]
        },
        Case("an end that is near", .certificates, .warning, "ends in 29 days") {
            $0.certificates.files = [
                file(from: -10, until: 300), file(from: -1, until: 29, use: "client_ca in [device]"),
            ]
        },
        Case("a begin in the future", .certificates, .failed, "begins only") {
            $0.certificates.files = [file(from: 1, until: 30)]
        },
        Case("authorities that cannot be read", .certificates, .failed, "client_ca in [device]") {
            $0.certificates.files.append(
                .init(use: "client_ca in [device]", path: "/x", content: .unreadable("no PEM")))
        },
        Case("a name that the certificate lacks", .certificates, .failed, "other.example.net") {
            $0.certificates.told = ["tracks.example.net", "other.example.net"]
        },
        Case("a name under a star", .certificates, .ok) { $0.certificates.told = ["A.example.org"] },
        Case("a star is one label", .certificates, .failed) { $0.certificates.told = ["a.b.example.org"] },
        Case("a chain without an end", .certificates, .failed, "refuse the chain") {
            $0.certificates.distrust = "no authority"
        },
        Case("a public key file", .certificates, .warning, "private key") { $0.certificates.isKeyPublic = true },

        Case("a full disk", .disk, .failed, "99 MiB free") { $0.disks = disk { $0.free = 99 << 20 } },
        Case("a disk that is nearly full", .disk, .warning, "free of") { $0.disks = disk { $0.free = 9 * gibibyte } },
        Case("a read-only disk", .disk, .failed, "read-only") { $0.disks = disk { $0.isReadOnly = true } },
        Case("a disk of another machine", .disk, .failed, "nfs4") { $0.disks = disk { $0.kind = "nfs4" } },
        Case("a disk in memory", .disk, .warning, "tmpfs") { $0.disks = disk { $0.kind = "tmpfs" } },
        Case("a container's layer", .disk, .warning, "container") { $0.disks = disk { $0.kind = "overlay" } },
        Case("a disk that does not sync", .disk, .failed, "Input/output error") {
            $0.disks = disk { $0.sync = .failed("Input/output error") }
        },
        Case("a disk that hangs", .disk, .failed, "does not end") { $0.disks = disk { $0.sync = .hangs } },
        Case("a slow disk", .disk, .warning, "2000 ms") { $0.disks = disk { $0.sync = .done(2000) } },
        Case("a directory of somebody else", .disk, .notChecked) { $0.disks = disk { $0.sync = .forbidden } },
        Case("no disk", .disk, .notChecked) { $0.disks = [] },

        Case("a store that is gone", .store, .failed, "no store") {
            $0.store = .unreadable("there is no store", isForbidden: false)
        },
        Case("a store of somebody else", .store, .notChecked) {
            $0.store = .unreadable("this user may not", isForbidden: true)
        },
        Case("a damaged store", .store, .failed, "row 3 missing") {
            $0.store = store { $0.problems = ["row 3 missing from index", "more"] }
        },
        Case("a log of root", .store, .failed, "-wal does not belong to saker-server") {
            $0.store = store { $0.strangeFiles = ["/s/tracks.sqlite-wal"] }
        },
        Case("a locked store", .store, .failed, "locked for 5 s") { $0.store = store { $0.heldFor = 5 } },
        Case("a store at its limit", .store, .warning, "at most 5 MiB") {
            $0.store = store { $0.maximumBytes = 5 << 20 }
        },
        Case("an older schema", .store, .warning, "schema 10") { $0.store = store { $0.schema = 10 } },
        Case("a check that takes too long", .store, .warning, "in time") { $0.store = store { $0.problems = nil } },

        Case("any port", .ports, .ok) { $0.ports = ports(.notFixed) },
        Case("the server listens elsewhere", .ports, .failed, "nobody listens at 0.0.0.0:8443") {
            $0.ports = ports(.free)
        },
        Case("a free port", .ports, .ok, "is free") { ($0.ports, $0.isServed) = ([ports(.free)[1]], false) },
        Case("a port of another store's server", .ports, .failed, "another store") { $0.isServed = false },
        Case("a certificate from before", .ports, .warning, "another certificate") {
            $0.ports = ports(.otherCertificate)
        },
        Case("another TLS server", .ports, .failed, "another TLS server") {
            ($0.ports, $0.isServed) = ([ports(.otherCertificate)[1]], false)
        },
        Case("a stranger", .ports, .failed, "HTTP 404") { $0.ports = ports(.stranger("HTTP 404")) },
        Case("an address of another machine", .ports, .failed, "Cannot assign") {
            $0.ports = ports(.unusable("Cannot assign requested address"))
        },

        Case("a clock that nobody keeps", .clock, .warning) { $0.isClockKept = false },
        Case("a clock before the program", .clock, .failed, "before this program was made") {
            $0.now = Timestamp(milliseconds: 1_000_000_000_000)
        },
        Case("a clock behind the points", .clock, .failed, "newest stored points") {
            $0.store = store { $0.newestReceived = now.adding(milliseconds: 2 * 86_400_000) }
        },
        Case("a clock that may be behind", .clock, .ok) {
            $0.store = store { $0.newestReceived = now.adding(milliseconds: 2 * 86_400_000) }
            $0.clockMayGoBack = true
        },

        Case("no road engine", .roads, .ok, "no road engine") { $0.roads = nil },
        Case("a dead road engine", .roads, .failed, "cannot be connected to") {
            $0.roads = .silent("cannot be connected to")
        },
        Case("tiles of a dead engine", .tiles, .notChecked) { $0.roads = .silent("does not answer in time") },
        Case("an engine without locate", .roads, .failed, "locate") {
            $0.roads = .answers(version: "3.9.1", missing: ["locate"], tilesModified: 0, tiles: .noPositions)
        },
        Case("an old engine", .roads, .warning, "3.6.2") {
            $0.roads = .answers(version: "3.6.2", missing: [], tilesModified: 0, tiles: .noPositions)
        },
        Case("a map of another country", .tiles, .failed, "0 of the 8") {
            $0.roads = .answers(version: "3.9.1", missing: [], tilesModified: 1_790_000_000, tiles: .known(0, of: 8))
        },
        Case("a map of a part", .tiles, .warning, "the map of 2026-09-21 has roads around 7 of the 8") {
            $0.roads = .answers(version: "3.9.1", missing: [], tilesModified: 1_790_000_000, tiles: .known(7, of: 8))
        },
        Case("no positions yet", .tiles, .ok) {
            $0.roads = .answers(version: "3.9.1", missing: [], tilesModified: 0, tiles: .noPositions)
        },
        Case("an engine that does not locate", .tiles, .warning) {
            $0.roads = .answers(version: "3.9.1", missing: [], tilesModified: 0, tiles: .failed("is busy"))
        },

        Case("no URL", .callbacks, .ok, "no service") { $0.callbacks = [] },
        Case("a store that was not read", .callbacks, .notChecked) { $0.callbacks = nil },
        Case("a dead URL", .callbacks, .failed, "no connection; 3 alarms wait, the oldest for 70 s") {
            $0.callbacks = [callback(), callback(problem: "no connection", waiting: 3, failing: 70_000)]
        },
        Case("a queue that grows", .callbacks, .warning, "1001 alarms wait") {
            $0.callbacks = [callback(waiting: 1001)]
        },
        Case("a queue that stands", .callbacks, .warning, "1 alarm waits") {
            $0.callbacks = [callback(waiting: 1, failing: 61_000)]
        },

        Case("a port that needs a privilege", .ports, .warning, "is below 1024: only a server with a privilege") {
            $0.isServed = false
            $0.ports = [PortFacts(setting: "[web] https_port", place: "0.0.0.0:443", found: .privileged)]
        },
        Case("a served port that needs a privilege", .ports, .failed, "nobody listens at 0.0.0.0:443") {
            $0.ports = [PortFacts(setting: "[web] https_port", place: "0.0.0.0:443", found: .privileged)]
        },

        Case("a store without devices", .identity, .ok, "0 vehicles have a certificate") { _ in },
        Case("a store whose keys nobody knows", .identity, .notChecked) { $0.access = nil },
        Case("devices alone", .identity, .ok, "1 vehicle has a certificate") {
            $0.access = [.init(service: 1, devices: 1, keys: []), .init(service: 2, devices: 0, keys: [])]
        },
        Case(
            "a key of a service without devices", .identity, .warning,
            "0 vehicles have a certificate; whoever has the key aa can log in as any vehicle of service 2"
        ) {
            $0.access = [.init(service: 1, devices: 0, keys: []), .init(service: 2, devices: 0, keys: ["aa"])]
        },
        Case(
            "keys of two services beside everything else", .identity, .warning,
            "vehicles cannot get certificates: no key; whoever has the key aa or bb can log in as any vehicle of service 1; "
                + "whoever has the key cc can log in as any vehicle of service 2; 1 vehicle waits for approval"
        ) {
            $0.enrolmentProblem = "no key"
            $0.access = [
                .init(service: 1, devices: 1, keys: ["aa", "bb"]),
                .init(service: 2, devices: 0, keys: ["cc"], pending: 1, oldestPending: before(hours: 25)),
            ]
        },
        Case(
            "a key beside devices", .identity, .warning,
            "whoever has the key aa or bb can log in as any vehicle of service 2"
        ) {
            $0.access = [.init(service: 1, devices: 1, keys: []), .init(service: 2, devices: 3, keys: ["aa", "bb"])]
        },
        Case("no key of the authority", .identity, .warning, "cannot get certificates: no key") {
            $0.enrolmentProblem = "no key"
        },
        Case("a vehicle that waits since yesterday", .identity, .warning, "1 vehicle waits for approval") {
            $0.access = [.init(service: 1, devices: 0, keys: [], pending: 1, oldestPending: before(hours: 25))]
        },
        Case("a vehicle that waits since today", .identity, .ok, "0 vehicles have") {
            $0.access = [.init(service: 1, devices: 0, keys: [], pending: 1, oldestPending: before(hours: 23))]
        },
        Case("a token that ends in six days", .identity, .warning, "token 4 of service 1 ends") {
            $0.access = [
                .init(service: 1, devices: 0, keys: [], tokenEnds: [4: before(hours: -144), 3: before(hours: -900)])
            ]
        },
        Case("a token that ends in eight days", .identity, .ok, "0 vehicles have") {
            $0.access = [.init(service: 1, devices: 0, keys: [], tokenEnds: [4: before(hours: -192)])]
        },

        Case("vehicles that are well", .vehicles, .ok, "no trouble is known of 12 vehicles") { _ in },
        Case("vehicles of which nobody knows", .vehicles, .notChecked) { $0.fleet = nil },
        Case(
            "vehicles in trouble", .vehicles, .warning,
            "3 of 12 vehicles are in trouble: 2 lost points, 1 not heard for a day"
        ) {
            $0.fleet = FleetFacts(vehicles: 12, troubles: [.silent: 1, .losing: 2])
        },
        Case("a vehicle in trouble", .vehicles, .warning, "1 of 1 vehicle is in trouble: 1 without a receiver") {
            $0.fleet = FleetFacts(vehicles: 1, troubles: [.receiver: 1])
        },
    ]

    private static func before(hours: Int64) -> Timestamp { now.adding(milliseconds: -hours * 3_600_000) }

    // MARK: Probes

    @Test func theTypeOfAFileSystemIsFound() {
        let table = """
            25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            31 25 0:27 / /mnt rw,nosuid shared:9 master:2 - nfs4 host:/x rw
            broken line
            40 25 259:65538 / /data rw - xfs /dev/nvme0n1p2 rw
            """
        #expect(MountTable.kind(in: table, device: 0x801) == "ext4")
        #expect(MountTable.kind(in: table, device: 27) == "nfs4")
        #expect(MountTable.kind(in: table, device: 0x1001_0302) == "xfs")
        #expect(MountTable.kind(in: table, device: 3) == nil)
    }

    @Test func theHostsOfEnrolmentAreFound() {
        func told(_ host: String?, _ address: String?) -> [String] {
            CertificateProbe.told(.init(host: host, port: nil, webAddress: address))
        }
        #expect(told(nil, nil) == [])
        #expect(told("a.net", "https://a.net:8443/x") == ["a.net"])
        #expect(told("a.net", "https://[2001:db8::1]:8443") == ["a.net", "2001:db8::1"])
        #expect(told("a.net", "http://b.net") == ["a.net"])
    }

    @Test func onlyTheHostOfAURLIsShown() {
        #expect(CallbackProbe.shown("https://h.example:81/secret?key=1") == "https://h.example:81")
        #expect(CallbackProbe.shown("nothing") == "a URL that is none")
    }

    private struct Engine: RoadTransport {
        let answers: [String: RoadReply]

        func exchange(_ request: RoadRequest, within timeout: Int64) async throws(RoadFailure) -> RoadReply {
            guard let answer = answers[request.path] else { throw .refused }
            return answer
        }
    }

    private func facts(_ answers: [String: (Int, String)]) async -> RoadFacts {
        await RoadProbe.facts(
            Engine(answers: answers.mapValues { RoadReply(status: $0.0, body: Array($0.1.utf8)) }),
            around: [Coordinate(latitude: 47.1, longitude: 9.5), Coordinate(latitude: 0, longitude: 0)]
                .compactMap(\.self))
    }

    @Test func theEngineIsAskedForItsRoads() async {
        let status = (200, #"{"version":"3.9.1","tileset_last_modified":7,"available_actions":["route","locate"]}"#)
        func answer(_ tiles: RoadFacts.Tiles) -> RoadFacts {
            .answers(version: "3.9.1", missing: ["trace_attributes"], tilesModified: 7, tiles: tiles)
        }
        let located = #"[{"edges":[{"way_id":1}],"nodes":[]},{"edges":null,"nodes":null}]"#
        #expect(await facts(["/status": status, "/locate": (200, located)]) == answer(.known(1, of: 2)))
        let none = (400, #"{"error_code":171,"error":"No suitable edges near location"}"#)
        #expect(await facts(["/status": status, "/locate": none]) == answer(.known(0, of: 2)))
        #expect(
            await facts(["/status": status, "/locate": (500, "")])
                == answer(.failed("does not answer as Valhalla does")))
        #expect(await facts(["/status": (200, "[]")]) == .silent("does not answer as Valhalla does"))
        #expect(await facts([:]) == .silent("cannot be connected to"))
    }
}
