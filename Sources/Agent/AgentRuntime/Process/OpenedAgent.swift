internal import AgentLogic
internal import AlarmLog
package import DiskRing
internal import Glibc
package import Logging
internal import NIOCore
internal import SecureLink
internal import Systemd
internal import TimeZones
internal import TrackModel

/// Everything that is opened before the loop runs. If the opening fails, the agent does not run at all. Opening is
/// recovery.
package struct OpenedAgent {
    let configuration: AgentConfiguration
    let dependencies: AgentDependencies
    let snapshot: CacheSnapshot
    private(set) var remembered: DurableState
    let settings: Settings
    /// Why the state of the process before could not be read; nil when it was read, or there was none.
    let memoryTrouble: String?

    /// With the dependencies of a real machine. Throws what an operator has to mend.
    init(_ configuration: AgentConfiguration, log: Logger) throws {
        let connector = SecureConnector(
            configuration.server, refusedPINFile: configuration.stateDirectory + "/refused-pin")
        let found = StateFile(directory: configuration.stateDirectory).read()
        try self.init(configuration, remembered: found, log: log) { options in
            let computer = ComputerChangeCheck(
                file: ComputerFile(directory: configuration.stateDirectory), traits: .ofAgent(), log: log)
            var isOnAnotherComputer = false
            let (disk, snapshot) = try CacheWorker.open(
                directory: configuration.cache.directory, options: options, now: MonotonicTime(.now())
            ) { cache in
                isOnAnotherComputer = computer.look(at: cache, now: MonotonicTime(.now()))
            }
            let hooks = configuration.hooks.map { hooks in
                HookRunner(
                    directory: HookDirectory(path: hooks.directory, user: geteuid()),
                    limit: Int64(hooks.timeLimit) * 1000, socket: configuration.control.socket,
                    concurrency: HookMachine.Limits().running)
            }
            let alarms = AlarmWorker(
                directory: configuration.stateDirectory, limit: configuration.alarmJournalLimit, disk: disk,
                now: MonotonicTime(.now()))
            let zones = SystemZones()
            var kept = LoadedLocalFences(FenceFile(directory: configuration.stateDirectory))
            kept.readZones(from: zones)
            let fences = LocalFenceStore(
                writer: FenceWorker(directory: configuration.stateDirectory, zones: zones, disk: disk), found: kept,
                states: alarms.states)
            let serverFences = ServerFenceStore(
                writer: ServerFenceWorker(directory: configuration.stateDirectory, disk: disk),
                found: LoadedServerFences(ServerFenceFile(directory: configuration.stateDirectory)),
                states: alarms.states)
            let dependencies = AgentDependencies(
                clock: KernelClock(), connector: connector, feeds: GNSSFeedSource(), disk: disk,
                stateStore: StateWorker(directory: configuration.stateDirectory, disk: disk),
                seed: UInt64.random(in: .min ... .max), boot: BootName.read(), alarms: alarms, hooks: hooks,
                fences: fences, serverFences: serverFences, isOnAnotherComputer: isOnAnotherComputer,
                longWork: LongWorkThread())
            return (dependencies, snapshot)
        }
    }

    /// `open` opens the ring with these options and puts it among the dependencies of the agent.
    package init(
        _ configuration: AgentConfiguration, remembered found: DurableStateReading, log: Logger,
        opening open: (DiskRingOptions) throws -> (AgentDependencies, CacheSnapshot)
    ) throws {
        self.configuration = configuration
        (remembered, settings) = Self.recall(found, configuration, log)
        if remembered.begin(under: configuration.service.enrollment) {
            log.notice(
                "The vehicle was enrolled anew: the commands of before are forgotten",
                metadata: ["entity": "\(configuration.service.entity)"])
        }
        memoryTrouble = found.trouble
        let options = DiskRingOptions(
            limit: settings.cacheLimit, syncInterval: Int64(configuration.cache.syncInterval * 1000))
        (dependencies, snapshot) = try open(options)
        let recovery = snapshot.recovery
        log.notice(
            "The disk ring is open",
            metadata: .event(
                .cacheRecovered,
                [
                    "directory": "\(configuration.cache.directory)", "points": "\(snapshot.points)",
                    "segments": "\(recovery.segments)", "corrupt_records": "\(recovery.corruptRecords)",
                    "torn_tails": "\(recovery.tornTails)",
                    "foreign_files": "\(recovery.foreignFiles + recovery.foreignSegments)",
                    "state": "\(snapshot.state)",
                ]))
    }

    private static func recall(
        _ found: DurableStateReading, _ configuration: AgentConfiguration, _ log: Logger
    ) -> (DurableState, Settings) {
        let defaults = Settings(defaultsOf: configuration)
        switch found {
        case .absent: return (DurableState(), defaults)
        case .read(let state):
            guard let kept = state.settings else { return (state, defaults) }
            do {
                var settings = try kept.settings()
                settings.keepAlive = configuration.gnss.isKeptOpen
                return (state, settings)
            } catch {
                log.error("Remembered settings break a rule, and defaults are used", metadata: ["error": "\(error)"])
                return (
                    DurableState(target: state.target, enrollment: state.enrollment, columns: state.columns),
                    defaults
                )
            }
        case .putAside(let path):
            log.error("The durable state was damaged and is put aside", metadata: ["file": "\(path)"])
            return (DurableState(), defaults)
        case .unreadable(let reason):
            log.error("The durable state cannot be read", metadata: ["error": "\(reason)"])
            return (DurableState(), defaults)
        }
    }
}

/// Names the present start of the computer, so that the next process knows whether the computer was started anew.
enum BootName {
    private static let file = "/proc/sys/kernel/random/boot_id"

    /// systemd tells it in `SAKER_BOOT_ID`: the sandbox of the unit hides the kernel's file. Nil: neither is there.
    static func read() -> String? {
        usable(getenv("SAKER_BOOT_ID").map { String(cString: $0) }) ?? usable(kernels())
    }

    /// 128 bits in hexadecimal, with or without hyphens; nil for anything else.
    static func usable(_ text: String?) -> String? {
        let digits = text?.filter { $0 != "-" && !$0.isWhitespace }.lowercased()
        return digits.flatMap { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) ? $0 : nil }
    }

    /// The 16 bytes of a name; none for a text that is no name.
    static func bytes(_ name: String) -> [UInt8] {
        let digits = (usable(name) ?? "").compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func kernels() -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
