import AgentControl

@testable import SakerCommand

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
            server: ServerFacts(
                host: "track.example.org", port: 7443, resolution: .addresses(["203.0.113.7"]), connection: .made(31)),
            certificates: [
                CertificateFacts(
                    path: "/etc/saker/ca.pem", content: .validity(from: 1_790_000_000, until: 2_100_000_000))
            ],
            identity: IdentityFacts(
                plan: RenewalPlan(from: 1_799_000_000, until: 1_806_776_000), key: .fits,
                device: "0198c0de-0000-7000-8000-000000000001", hasWebAddress: true, isOnAnotherComputer: false),
            disk: DiskFacts(directory: "/var/lib/saker/cache", free: 8 << 30, total: 32 << 30, isReadOnly: false),
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
