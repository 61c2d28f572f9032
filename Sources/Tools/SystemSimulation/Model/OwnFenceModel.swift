internal import AgentLogic
internal import AgentRuntime
internal import Geofencing
internal import LocalFences
internal import TrackModel

/// What the agent must find by the vehicle's own fences, process by process: from what the disk has at the start, the fixes of
/// this process and the changes of fences in it.
///
/// A process reads the points of the ring that are newer than its fence state, if the disk gives them in time. Nobody outside
/// knows whether it did, so there is one course with these points and one without; a course that does not fit what the agent
/// does is dropped, and one must be left.
struct OwnFenceModel {
    private var courses: [OwnFenceCourse] = []
    private var gates = FixGates()
    private var gatesEntity: String?
    private var options = LocationOptions()
    private var entity: String?
    /// What the ring had when the process began.
    private var ring: [PointOnDisk] = []
    private var replayed: Set<String> = []
    /// The file cannot be read: nothing is judged.
    private(set) var isUnreadable = false
    /// A fence changed while the ring was read: nobody knows from which point on it judges.
    private(set) var isUnsure = false
    private var replaysUntil = MonotonicTime.distantPast
    private(set) var nextFence: Int32 = 1
    private(set) var kept = DurableStateModel<[Int32: KeptFence]>([:])
    private(set) var unsureProcesses = 0
    private let way: TrueWay

    /// Milliseconds until an alarm is told, whatever the disk does: the ring is read for 5 s at most, and the journal waits
    /// for the disk for 2 s.
    private static let timeout: Int64 = 8000
    private static let replayTimeout: Int64 = 5000
    private static let mostCourses = 8

    init(_ way: TrueWay = TrueWay()) {
        self.way = way
    }

    // MARK: Processes

    /// `fenceStates`: by entity, of the journal; `ring`: the points that stand in it.
    mutating func processStarts(
        _ file: LoadedLocalFences, fenceStates: [String: EntityFenceState], ring: [PointOnDisk]
    ) throws(Violation) {
        processEnds()
        self.ring = ring
        (gates, gatesEntity) = (FixGates(options: options), nil)
        isUnreadable = file.unreadable != nil
        try opened(file, fenceStates)
    }

    mutating func processEnds() {
        courses = []
        (entity, replayed, isUnsure) = (nil, [], false)
    }

    /// The file was read again.
    mutating func fileRead(_ file: LoadedLocalFences) throws(Violation) {
        guard isUnreadable, file.unreadable == nil else { return }
        isUnreadable = false
        let fenceStates = courses.first?.fenceStates ?? [:]
        let entity = entity
        try opened(file, fenceStates)
        if let entity {
            for index in courses.indices { courses[index].started(entity) }
        }
    }

    private mutating func opened(_ file: LoadedLocalFences, _ fenceStates: [String: EntityFenceState]) throws(Violation)
    {
        var fences: [Int32: OwnFence] = [:]
        var fenceStates = fenceStates
        if file.unreadable == nil {
            guard file.damage == nil else { throw broken("the file of fences was damaged: \(file.damage ?? "")") }
            for number in file.fences.numbers { fences[number] = file.fences[number].map(OwnFence.init) }
            let back = fences.mapValues { KeptFence(definition: $0.fence.definition, revision: $0.fence.revision) }
            guard kept.allows(back) else {
                throw broken(
                    "the agent came back with fences \(Self.text(back)), and not with \(kept.words(Self.text))")
            }
            kept = DurableStateModel(back)
            nextFence = file.nextFence
            for entity in fenceStates.keys {
                for pair in fenceStates[entity]?.pairs ?? [] where fences[pair.fence] == nil {
                    fenceStates[entity]?.forget(fence: pair.fence)
                }
            }
        }
        courses = [OwnFenceCourse(fences: fences, fenceStates: fenceStates, way)]
    }

    // MARK: Fixes

    mutating func started(_ name: String, at now: MonotonicTime, known: Set<UInt64>) {
        if gatesEntity == name { gates.restart() } else { (gates, gatesEntity) = (FixGates(options: options), name) }
        entity = name
        for index in courses.indices { courses[index].started(name) }
        guard !isUnreadable, courses.contains(where: { $0.fenceStates[name]?.lastTime != nil }),
            replayed.insert(name).inserted
        else { return }
        var others: [OwnFenceCourse] = []
        for course in courses.prefix(Self.mostCourses / 2) {
            guard let last = course.fenceStates[name]?.lastTime else { continue }
            let points = ring.filter { $0.entity == name && $0.fix.time > last }
            guard !points.isEmpty else { continue }
            var with = course
            for point in points {
                let floor = point.point.attributes[AttributeModel.floorKey].flatMap(Self.floor)
                with.take(FencePoint(point.fix, floor: floor), isLive: false, at: now, known: known)
            }
            others.append(with)
        }
        if !others.isEmpty { replaysUntil = now + Self.replayTimeout }
        courses += others
    }

    mutating func stopped() {
        entity = nil
        for index in courses.indices { courses[index].stopped() }
    }

    /// These are in force, after a start.
    mutating func optionsAre(_ options: LocationOptions) {
        if options != self.options { optionsChanged(options) }
    }

    mutating func optionsChanged(_ options: LocationOptions) {
        self.options = options
        gates.setOptions(options)
    }

    /// The receiver's next fix while the agent gathers. `isBack`: time went back to it. `floor`: on which the vehicle is, as
    /// somebody has said. `known`: alarms that the journal has.
    mutating func fix(
        _ fix: Fix, isBack: Bool = false, floor: String? = nil, at now: MonotonicTime, known: Set<UInt64>
    ) {
        if isBack { gates.beginAnew() }
        guard entity != nil, gates.admits(fix), !isUnreadable else { return }
        for index in courses.indices {
            courses[index].take(
                FencePoint(fix, floor: floor.flatMap(FloorCode.init(name:))), isLive: true, at: now, known: known)
        }
    }

    private static func floor(_ value: AttributeValue) -> FloorCode? {
        if case .string(let name) = value { FloorCode(name: name) } else { nil }
    }

    // MARK: Fences

    /// Returns the number of the change: see ``durable(_:)``.
    mutating func create(_ definition: FenceDefinition, at now: MonotonicTime) -> Int {
        change(at: now) { [nextFence] in $0.create(nextFence, definition) }
        defer { nextFence += 1 }
        return keep()
    }

    mutating func update(_ number: Int32, _ definition: FenceDefinition, at now: MonotonicTime) -> Int {
        change(at: now) { $0.update(number, definition) }
        return keep()
    }

    mutating func delete(_ number: Int32, at now: MonotonicTime) -> Int {
        change(at: now) { $0.delete(number) }
        return keep()
    }

    /// Points of the ring may be gone, and nobody knows whether the process has read them.
    mutating func ringChanged(at now: MonotonicTime) {
        guard now <= replaysUntil, !isUnsure else { return }
        isUnsure = true
        unsureProcesses += 1
    }

    private mutating func change(at now: MonotonicTime, _ body: (inout OwnFenceCourse) -> Void) {
        ringChanged(at: now)
        for index in courses.indices { body(&courses[index]) }
    }

    private mutating func keep() -> Int {
        kept.changed(
            to: fences.mapValues { KeptFence(definition: $0.fence.definition, revision: $0.fence.revision) })
    }

    /// The agent has called a change durable: nothing from before it comes back.
    mutating func durable(_ number: Int) { kept.durable(number) }

    var fences: [Int32: OwnFence] { courses.first?.fences ?? [:] }

    /// What has been found in this process, by the first course that is left.
    var expected: [OwnFenceCourse.Expected] { courses.first?.expected ?? [] }

    // MARK: What the agent does

    mutating func told(_ id: UInt64, _ name: String, at now: MonotonicTime) throws(Violation) {
        var reason = "nobody gathers"
        var left: [OwnFenceCourse] = []
        for var course in courses {
            if let wrong = course.told(id, name, at: now) { reason = wrong } else { left.append(course) }
        }
        try keep(left, "\(name) is told: \(reason)")
    }

    /// Looks at what should have been told by now.
    mutating func checkTold(at now: MonotonicTime) throws(Violation) {
        if let untrue = courses.compactMap(\.untrue).first { throw untrue }
        var reason: String?
        let left = courses.filter { course in
            guard let wrong = course.overdue(at: now, after: Self.timeout) ?? course.unexplained(before: now) else {
                return true
            }
            reason = wrong
            return false
        }
        if let reason { try keep(left, reason) }
    }

    /// Looks for alarms that were told before this moment without a fix.
    mutating func checkExplained(at now: MonotonicTime) throws(Violation) {
        var reason: String?
        let left = courses.filter { course in
            guard let wrong = course.unexplained(before: now) else { return true }
            reason = wrong
            return false
        }
        if let reason { try keep(left, reason) }
    }

    /// The journal has these alarms, and remembers the entity as points up to a time left it.
    mutating func remembered(
        _ entity: String, through time: Int64, with journal: Set<UInt64>
    ) throws(Violation) {
        for index in courses.indices { courses[index].stand(journal) }
        var reason: String?
        let left = courses.filter { course in
            guard let missing = course.missing(entity: entity, through: time) else { return true }
            reason = missing
            return false
        }
        if let reason { try keep(left, reason) }
    }

    private mutating func keep(_ left: [OwnFenceCourse], _ reason: String) throws(Violation) {
        guard !isUnsure else { return }
        guard !left.isEmpty else { throw broken(reason) }
        courses = left
    }

    private static func text(_ fences: [Int32: KeptFence]) -> String {
        fences.sorted { $0.key < $1.key }.map { "\($0.key).\($0.value.revision)" }.joined(separator: " ")
    }

    private func broken(_ detail: String) -> Violation { Violation(guarantee: .fences, detail: detail) }
}

/// A fence of the vehicle's own as the checker knows it: since when it judges, by the time of the fixes.
struct OwnFence: Hashable {
    var fence: Fence
    /// Fixes before are not judged by it.
    var since: Timestamp
    /// Places are set anew from fixes before.
    var revised: Timestamp
    /// Entities that the fence began to watch later.
    var joined: [String: Timestamp] = [:]

    init(_ fence: Fence, since: Timestamp) {
        (self.fence, self.since, revised) = (fence, since, since)
    }

    /// As the file has it: after docs/formats/fences.md, whose first fields these are.
    init(_ found: LocalFence) {
        let bytes = found.encoded
        func time(_ offset: Int) -> Timestamp {
            var value: UInt64 = 0
            for index in 0..<8 { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
            return Timestamp(milliseconds: Int64(bitPattern: value))
        }
        fence = found.fence
        (since, revised) = (time(0), time(8))
        var offset = 17
        for _ in 0..<bytes[16] {
            let end = offset + 1 + Int(bytes[offset])
            joined[String(decoding: bytes[(offset + 1)..<end], as: UTF8.self)] = time(end)
            offset = end + 8
        }
    }

    func plan(for entity: String) -> FencePlan? {
        guard fence.definition.watch.contains(entity), var plan = try? fence.plan(from: joined[entity] ?? since) else {
            return nil
        }
        plan.revisedAt = revised
        return plan
    }

    /// No time lies behind this one: a later date was wrong.
    mutating func begin(by time: Timestamp) {
        (since, revised) = (min(since, time), min(revised, time))
        joined = joined.mapValues { min($0, time) }
    }
}

/// What must come back after a restart.
struct KeptFence: Hashable {
    let definition: FenceDefinition
    let revision: Int32
}
