import AgentLogic
import AlarmLog
import DiskRing
import FenceDelivery
import Geodesy
import Geofencing
import TrackModel
import TrackTestKit

@testable import LocalFences

/// A box with the machine of server fences, a journal and a file on a simulated disk: what the shell does, without threads.
struct ServerBox: JournalingBox {
    static let entity = "van_07"
    static let now = MonotonicTime(milliseconds: 0)
    let disk: DiskSimulation
    var journal: AlarmJournal
    var machine = ServerFenceMachine()
    var told: [(key: String, isDurable: Bool)] = []
    var hooksRun: [String] = []
    var applied: [(version: UInt64, isRemembered: Bool)] = []
    var requests: [Coordinate] = []
    var timers: Set<AlarmOutbox.Timer> = []
    var isWaitingForDisk = false
    /// The file's disk does not answer.
    var isHanging = false
    var hanging: ServerFenceSet?
    var file: ServerFenceFile { ServerFenceFile(directory: "/var/saker", files: disk) }

    init(disk: DiskSimulation) {
        self.disk = disk
        journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: Self.now)
        start()
    }

    /// The process starts with what is on the disk.
    mutating func start(as entity: String = entity, service: Int64 = 7) {
        journal = AlarmJournal(directory: "/var/saker", fileSystem: disk, now: Self.now)
        var found: ServerFenceSet?
        if case .read(let bytes) = file.read() { found = try? ServerFenceSet(encoded: bytes) }
        let fenceStates = journal.fenceStates.compactMap {
            state -> (service: Int64, entity: String, fenceState: EntityFenceState)? in
            guard let service = state.service, let fenceState = try? EntityFenceState(encoded: state.fenceState) else {
                return nil
            }
            return (service, state.entity, fenceState)
        }
        machine = ServerFenceMachine(found: found, fenceStates: fenceStates)
        (timers, isHanging, hanging) = ([], false, nil)
        perform(machine.runs(as: entity, service: service))
    }

    mutating func gather(_ point: FencePoint, sequence: UInt64 = 1) {
        let cause = PointCause(stream: StreamID(high: 1, low: 2), sequence: sequence)
        perform(machine.gathered(point, cause: cause))
    }

    mutating func replay(_ point: FencePoint) {
        perform(machine.gathered(point, cause: nil, isLive: false))
    }

    mutating func deliver(_ delivery: FenceDelivery) throws(FenceRefusal) {
        adopt(try work(delivery))
    }

    /// What the delivery makes of the fences as they are now.
    mutating func work(_ delivery: FenceDelivery) throws(FenceRefusal) -> ServerFenceWork.Done {
        do throws(FenceRefusal) {
            return try machine.beginDelivery().run(delivery)
        } catch {
            perform(machine.deliveryFailed())
            throw error
        }
    }

    /// False: the work must be done anew.
    @discardableResult
    mutating func adopt(_ done: ServerFenceWork.Done) -> Bool {
        guard let actions = machine.adopt(done) else { return false }
        perform(actions)
        return true
    }

    mutating func fire(_ timer: AlarmOutbox.Timer) {
        guard timers.remove(timer) != nil else { return }
        perform(machine.alarms { $0.timerFired(timer) })
    }

    mutating func perform(_ actions: [ServerFenceMachine.Action]) {
        for action in actions {
            switch action {
            case .judging(.alarms(.write(let writing))): write(writing)
            case .judging(.alarms(.tell(let alarm, let standing))):
                if case .durable = standing {
                    told.append((alarm.key.text, true))
                } else {
                    told.append((alarm.key.text, false))
                }
            case .judging(.alarms(.runHooks(let alarm, _))): hooksRun.append(alarm.key.text)
            case .judging(.alarms(.settleHooks(let number))): journal.finish(number)
            case .judging(.alarms(.setTimer(let timer, _))): timers.insert(timer)
            case .judging(.alarms(.cancelTimer(let timer))): timers.remove(timer)
            case .saving(.write):
                if isHanging { hanging = machine.content } else { save(machine.content) }
            case .applied(let version, _, let isRemembered): applied.append((version, isRemembered))
            case .setTimeout: isWaitingForDisk = true
            case .request(let place): requests.append(place)
            case .judging, .saving,
                .usesChanged:
                break
            }
        }
    }

    mutating func release() {
        isHanging = false
        guard let content = hanging else { return }
        hanging = nil
        save(content)
    }

    private mutating func save(_ content: ServerFenceSet?) {
        let reason = content.flatMap { file.write($0.encoded) }
        perform(
            machine.saving { saving in
                if let reason { saving.failed(reason: reason) } else { saving.written() }
            })
    }

    private mutating func write(_ writing: AlarmOutbox.Writing) {
        switch append(writing) {
        case .written(let outcomes): perform(machine.alarms { $0.written(outcomes) })
        case .refused(let reason): perform(machine.alarms { $0.refused(reason: reason) })
        }
    }
}

/// A server that judges what the box uploads, with the versions that the box says, and forgets no version.
struct ModelServer {
    private(set) var versions: [UInt64: [Int32: Fence]] = [0: [:]]
    private(set) var newest: UInt64 = 0
    /// When each fence came to be.
    private(set) var born: [Int32: Timestamp] = [:]
    private var fenceState = EntityFenceState()
    private var judge = FenceJudge()
    private var judgedBy: UInt64 = 0
    private var since: [Int32: (since: Timestamp, revised: Timestamp)] = [:]
    private(set) var alarms: [FenceAlarm] = []

    var keys: [String] {
        let scope = AlarmScope(service: 7, entity: ServerBox.entity, source: .server)
        return alarms.map { AlarmKey($0, in: scope).text }
    }

    /// An operator changes fences at this time.
    mutating func edit(at time: Timestamp, _ change: (inout [Int32: Fence]) -> Void) {
        var fences = versions[newest] ?? [:]
        change(&fences)
        newest += UInt64(1 + fences.count % 3)
        versions[newest] = fences
        for number in fences.keys where born[number] == nil { born[number] = time }
        for number in born.keys where fences[number] == nil { born[number] = nil }
    }

    /// What the box gets that has a version; nil: it has the newest.
    func delivery(from version: UInt64) -> FenceDelivery? {
        guard version != newest, let now = versions[newest] else { return nil }
        func sent(_ fence: Fence) -> DeliveredFence {
            DeliveredFence(
                fence, since: born[fence.id] ?? Timestamp(milliseconds: 0),
                group: fence.definition.group.map { GroupCode(name: $0, watch: "all") })
        }
        guard version > 0, let before = versions[version] else {
            return FenceDelivery(version: newest, fences: now.values.map(sent))
        }
        let changed = now.values.filter { before[$0.id] != $0 }
        return FenceDelivery(
            version: newest, base: version, fences: changed.map(sent),
            removed: before.keys.filter { now[$0] == nil })
    }

    /// A point that the box says was judged by this version.
    mutating func judge(_ point: FencePoint, by version: UInt64) {
        let fences = versions[version] ?? [:]
        if version != judgedBy {
            let before = versions[judgedBy] ?? [:]
            let next = fenceState.lastTime?.adding(milliseconds: 1)
            for fence in fences.values {
                let (born, revised) = (bornEver[fence.id] ?? Timestamp(milliseconds: 0), fence.revisedAt)
                if let old = before[fence.id] {
                    if old.areaRevision != fence.areaRevision {
                        since[fence.id]?.revised = next.map { max($0, revised) } ?? revised
                    }
                } else {
                    since[fence.id] = (next.map { max($0, born) } ?? born, revised)
                }
            }
            for number in before.keys where fences[number] == nil { fenceState.forget(fence: number) }
            judgedBy = version
        }
        let plans = fences.values.compactMap { fence -> FencePlan? in
            guard let times = since[fence.id], var plan = try? fence.plan(from: times.since) else { return nil }
            plan.revisedAt = times.revised
            plan.group = fence.definition.group.map { GroupCode(name: $0, watch: "all") }
            return plan
        }
        _ = judge.judge(point, of: &fenceState, by: FenceSet(plans), into: &alarms)
    }

    private var bornEver: [Int32: Timestamp] { born }
}
