import AgentControl
import Diagnosing
import JSON
import Testing
import Varlink

@testable import SakerCommand

/// The verdicts as functions of the facts.
@Suite struct DiagnosisTests {
    init() {
        _ = LocalZone.isUTC
    }

    @Test(
        arguments: agentCases + configurationCases + receiverCases + clockCases + serverCases + storageCases
            + fenceCases)
    func aVerdictFollowsFromTheFacts(_ given: Case) throws {
        let list = CheckList(given.facts)
        let check = try #require(list.checks.first { $0.subject == given.subject }).finding
        #expect(check.verdict == given.verdict, "\(check)")
        #expect(given.found.isEmpty || check.found.contains(given.found), "\(check)")
        #expect(given.remedy.isEmpty || check.remedy?.contains(given.remedy) == true, "\(check)")
        // Each failure names its remedy.
        #expect(list.checks.allSatisfy { $0.finding.verdict != .failed || $0.finding.remedy != nil })
        #expect(list.exitCode == (list.checks.contains { $0.finding.verdict == .failed } ? 1 : 0))
    }

    @Test func aHealthyBoxPassesEveryCheckOnce() {
        let list = CheckList(Facts.healthy)
        #expect(list.checks.map(\.subject) == VehicleSubject.allCases)
        #expect(list.checks.filter { $0.finding.verdict != .ok } == [])
        #expect(list.exitCode == 0)
        #expect(list.lines().last == "19 ok. Nothing keeps this vehicle from being tracked.")
        #expect(list.json["failed"] == 0 && list.json["checks"]?.arrayValue?.count == 19)
    }

    @Test func aFailureIsShownWithItsRemedyBelow() throws {
        let lines = CheckList(Self.gpsd(.unreachable("Connection\u{1B} refused"))).lines()
        let index = try #require(lines.firstIndex { $0.hasPrefix("FAILED       gpsd           gpsd does not answer") })
        #expect(lines[index].hasSuffix("(Connection? refused)"))
        #expect(lines[index + 1].hasPrefix("             -> Start it: sudo systemctl enable"))
        #expect(lines[index + 2].hasPrefix("not checked  device         gpsd does not answer"))
        #expect(lines.last?.contains("1 failed") == true)
    }

    /// Every finding at 80 columns: no line is wider unless one word is, and no word is lost.
    @Test(
        arguments: agentCases + configurationCases + receiverCases + clockCases + serverCases + storageCases
            + fenceCases)
    func theDoctorFitsTheTerminal(_ given: Case) {
        let list = CheckList(given.facts)
        let lines = list.lines(width: 80)
        #expect(lines.allSatisfy { $0.count <= 80 || $0.split(separator: " ").count <= 2 }, "\(lines)")
        #expect(
            lines.joined(separator: " ").split(separator: " ")
                == list.lines().joined(separator: " ").split(separator: " "))
    }
}

extension DiagnosisTests {
    /// Facts, and the verdict of one check that follows from them.
    struct Case: Sendable, CustomTestStringConvertible {
        let title: String
        let facts: Facts
        let subject: VehicleSubject
        let verdict: Finding.Verdict
        /// Parts of what was found, and of the remedy.
        var found = ""
        var remedy = ""

        var testDescription: String { title }

        init(
            _ title: String, _ facts: Facts, _ subject: VehicleSubject, _ verdict: Finding.Verdict,
            _ found: String = "",
            _ remedy: String = ""
        ) {
            (self.title, self.facts, self.subject, self.verdict) = (title, facts, subject, verdict)
            (self.found, self.remedy) = (found, remedy)
        }
    }

    static func silent(_ code: VarlinkClientError.Code, _ change: (inout Facts) -> Void = { _ in }) -> Facts {
        Facts.with {
            $0.answer = .silent(code, "/run/saker/agent.varlink: no")
            change(&$0)
        }
    }

    static func gpsd(_ result: GPSDFacts.Result, host: String = "127.0.0.1") -> Facts {
        Facts.status { $0.feed.state = .noFix }.changed {
            $0.gpsd = GPSDFacts(host: host, port: 2947, result: result)
        }
    }

    static func unresolved(_ resolution: FleetServerFacts.Resolution) -> FleetServerFacts {
        FleetServerFacts(host: "track.example.org", port: 7443, resolution: resolution, connection: nil)
    }

    static let receiver = [GPSDFacts.Device(path: "/dev/ttyACM0", driver: "")]
}

extension Facts {
    func changed(_ change: (inout Facts) -> Void) -> Facts {
        var facts = self
        change(&facts)
        return facts
    }

    func changedStatus(_ change: (inout AgentStatus) -> Void) -> Facts {
        guard var status else { return self }
        change(&status)
        return changed { $0.answer = .status(status) }
    }
}

extension Facts {
    static let places = ConfiguredPlaces(
        host: "track.example.org", port: 7443, authorityFile: "/etc/saker/ca.pem", gpsdHost: "127.0.0.1",
        gpsdPort: 2947,
        cacheDirectory: "/var/lib/saker/cache", stateDirectory: "/var/lib/saker",
        credentials: ["/etc/saker/credentials/ak"])

    /// A box on which nothing is wrong, on 2027-01-15.
    static var healthy: Facts {
        var status = SampleStatus.tracked
        status.entity = "van_07"
        status.time = 1_800_000_000_000
        status.feed.lastFix?.satellites = 11
        status.counters.skipped = ["not_due": 8000]
        status.cache.directory = "/var/lib/saker/cache"
        status.clock = ClockStatus(synchronised: true, serverDifference: 12)
        return Facts(
            socket: "/run/saker/agent.varlink", answer: .status(status),
            unit: UnitFacts(load: "loaded", active: "active", result: "success", restarts: 0),
            program: "/usr/local/bin/sakerd", user: UserFacts(name: "root", isRoot: true, isInGroup: false),
            configurationPath: "/etc/saker/agent.toml", configuration: .valid(places, warnings: []),
            gpsd: GPSDFacts(
                host: "127.0.0.1", port: 2947,
                result: .answers(
                    release: "3.25", devices: [GPSDFacts.Device(path: "/dev/ttyACM0", driver: "u-blox")], fix: nil)),
            clock: ClockFacts(
                isSynchronised: true, time: 1_800_000_000_000, serverDifference: 12, receiverDifference: -300),
            server: FleetServerFacts(
                host: "track.example.org", port: 7443, resolution: .addresses(["203.0.113.7"]), connection: .made(31)),
            certificates: [
                ClientCertificateFacts(
                    path: "/etc/saker/ca.pem", content: .validity(from: 1_790_000_000, until: 2_100_000_000))
            ],
            identity: IdentityFacts(
                plan: RenewalPlan(from: 1_799_000_000, until: 1_806_776_000), key: .fits,
                device: "0198c0de-0000-7000-8000-000000000001", hasWebAddress: true, isOnAnotherComputer: false),
            disk: VehicleDiskFacts(
                directory: "/var/lib/saker/cache", free: 8 << 30, total: 32 << 30, isReadOnly: false),
            files: [
                FileFacts(path: "/var/lib/saker", role: .writable, found: .mode(0o750, owner: 990), agentUser: 990),
                FileFacts(
                    path: "/etc/saker/credentials/ak", role: .credential, found: .mode(0o600, owner: 0), agentUser: 990),
            ])
    }

    /// The same with something changed in the agent's status.
    static func status(_ change: (inout AgentStatus) -> Void) -> Facts {
        var facts = healthy
        guard var status = facts.status else { return facts }
        change(&status)
        facts.answer = .status(status)
        return facts
    }

    static func with(_ change: (inout Facts) -> Void) -> Facts {
        var facts = healthy
        change(&facts)
        return facts
    }

    /// Not online, for this reason.
    static func link(_ state: LinkStatus.State, _ cause: String?, _ reason: String = "so it is") -> Facts {
        status {
            $0.link.state = state
            $0.link.lastError = reason
            $0.link.lastErrorCause = cause
        }
    }
}
