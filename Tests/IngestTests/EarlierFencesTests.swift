import FenceDelivery
import FenceJudging
import Geodesy
import Geofencing
import Ingest
import ProgramTestKit
import Testing
import TrackModel
import TrackStore
import TrackTestKit

/// A vehicle judges by the fences that it has, and the server judges the vehicle's points by the same ones.
@Suite struct EarlierFencesTests {
    /// A vehicle that has server fences, as the agent keeps them.
    private struct Vehicle {
        let key: EntityKey
        var fences: [Int32: (fence: DeliveredFence, plan: FencePlan)] = [:]
        var uses: [FencesUsed] = []
        var fenceState = EntityFenceState()
        var judge = FenceJudge()
        var newest = Timestamp(milliseconds: 0)
        var alarms: [AlarmKey: FenceAlarm] = [:]

        var version: Int64 { uses.last?.version ?? 0 }

        /// The difference to what the vehicle has, or everything.
        mutating func take(from store: any TrackStore) async throws {
            let difference = try await store.fenceDifference(of: key, since: version)
            if let changes = difference.changes {
                guard !changes.isEmpty else { return }
                for change in changes { try put(change.fence, change.present) }
            } else {
                let all = try await store.fences(watching: key, page: Page(offset: 0, limit: 1000)).fences
                for fence in all { try put(fence.record.fence.id, fence) }
            }
            // A version that judged no point is passed over.
            let base = uses.first { $0.after >= newest }?.base ?? version
            uses.removeAll { $0.after >= newest }
            uses.append(FencesUsed(version: difference.version, after: newest, base: base))
        }

        private mutating func put(_ number: Int32, _ watched: SubjectFence?) throws {
            let former = fences.removeValue(forKey: number)
            guard let watched else { return fenceState.forget(fence: number) }
            let fence = DeliveredFence(watched.record.fence, since: watched.since, of: key.name)
            var plan = try fence.plan(takenAfter: newest, former: former?.fence)
            if let former {
                plan.from = former.plan.from
                if former.plan.areaRevision == plan.areaRevision { plan.revisedAt = former.plan.revisedAt }
            }
            fences[number] = (fence, plan)
        }

        mutating func drive(_ point: TrackPoint) {
            var found: [FenceAlarm] = []
            let set = FenceSet(fences.values.map(\.plan))
            _ = judge.judge(FencePoint(point.fix), of: &fenceState, by: set, into: &found)
            newest = point.fix.time
            let scope = AlarmScope(service: key.service.rawValue, entity: key.name, source: .server)
            for alarm in found { alarms[AlarmKey(alarm, in: scope)] = alarm }
        }
    }

    private static func short(_ alarm: FenceAlarm) -> String {
        "\(alarm.action) \(alarm.fence).\(alarm.revision) at \(alarm.point.time.milliseconds - 1_700_000_000_000)"
            + (alarm.group == nil ? "" : " of a group")
    }

    private static func definition(_ random: inout Dice, group: Bool) throws -> FenceDefinition {
        var definition = FenceDefinition(
            ShapeDraft(
                .circle(
                    centre: Degrees(latitude: 40, longitude: 116 + Double.random(in: -0.01...0.01, using: &random)),
                    radius: Double.random(in: 30...300, using: &random))))
        if Bool.random(using: &random) {
            (definition.rule, definition.stay) = ([.enter, .exit, .stay], StayAlarmRule(after: 15, every: 10))
        }
        if Bool.random(using: &random) {
            definition.speedLimit = SpeedLimit(speed: Int32.random(in: 500...2000, using: &random), duration: 5)
        }
        if group { definition.group = "yard" }
        definition.watch =
            try [.everyone, FenceSubjects(["van"]), FenceSubjects(["van", "bus"]), FenceSubjects(["bus"])]
            .randomElement(using: &random) ?? .everyone
        return definition
    }

    private static func edit(
        _ store: any TrackStore, _ service: ServiceID, at now: Timestamp, _ random: inout Dice
    ) async throws {
        let fences = try await store.fences(in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 99))
            .fences
        let fresh = try definition(&random, group: Bool.random(using: &random))
        guard let fence = fences.randomElement(using: &random), fences.count > 3 else {
            _ = try await store.createFence(fresh, in: service, at: now)
            return
        }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: _ = try await store.createFence(fresh, in: service, at: now)
        case 1:
            _ = try await store.deleteFences(
                matching: FenceFilter(fences: [fence.fence.id]), in: service, at: now)
        default:
            var changed = fence.fence.definition
            switch Int.random(in: 0..<5, using: &random) {
            case 0: changed.name = "\(now.milliseconds)"
            case 1: changed.shape = fresh.shape
            case 2: changed.watch = fresh.watch
            case 3: (changed.rule, changed.stay) = (fresh.rule, fresh.stay)
            default: changed.speedLimit = fresh.speedLimit
            }
            _ = try await store.updateFence(
                fence.fence.id, to: changed, expecting: fence.version, in: service, at: now)
        }
    }

    /// Any edits while the vehicle is online or away, any batches: the same alarms with the same keys.
    @Test(arguments: Dice.seeds(60)) func bothSidesFindTheSameAlarms(_ seed: UInt64) async throws {
        var random = Dice(seed: seed)
        let bench = try await Bench()
        let service = try #require(ServiceID(rawValue: 1))
        for name in ["van", "bus"] { try await bench.store.haveEntity(named: name, in: service, at: .at(-1000)) }
        for _ in 0..<4 { try await Self.edit(bench.store, service, at: .at(-500), &random) }
        var van = Vehicle(key: EntityKey(service: service, name: "van"))
        if Bool.random(using: &random) { try await van.take(from: bench.store) }
        var waiting: [TrackPoint] = []
        var east = 0.0
        for second in (1...300).map(Int64.init) {
            east = max(-900, min(900, east + Double.random(in: -90...90, using: &random)))
            let place = try #require(Coordinate(latitude: 40, longitude: 116 + east / 85_393.76))
            let point = TrackPoint(
                Fix(
                    time: .at(second * 5), coordinate: place, speed: Int32.random(in: 0...2500, using: &random),
                    accuracy: Int32.random(in: 10...80, using: &random), mode: .threeDimensional))
            van.drive(point)
            waiting.append(point)
            if Int.random(in: 0..<12, using: &random) == 0 {
                try await Self.edit(bench.store, service, at: .at(second * 5 + 1), &random)
            }
            if Int.random(in: 0..<15, using: &random) == 0 {
                try await van.take(from: bench.store)
            }
            guard Int.random(in: 0..<20, using: &random) == 0 || second == 300 else { continue }
            while !waiting.isEmpty {
                let part = Array(waiting.prefix(Int.random(in: 1...40, using: &random)))
                waiting.removeFirst(part.count)
                let batch = IngestBatch(
                    service: service, entity: "van", position: nil, points: part, sequences: [], payload: nil,
                    received: .at(second * 5 + 2), fencesUsed: van.uses)
                let results = await bench.writer.submit([batch])
                #expect(results == [.success(0)])
            }
        }
        let stored = try await bench.store.alarms(
            in: service, matching: AlarmFilter(includesStale: true), page: Page(offset: 0, limit: 10_000)
        ).alarms.map(\.alarm)
        let missing = van.alarms.filter { key, _ in !stored.contains { $0.key == key } }
        #expect(
            missing.isEmpty,
            "seed \(seed): the server misses alarms \(missing.values.map(Self.short))"
        )
        #expect(Set(stored.map(\.key)).count == stored.count, "seed \(seed)")
        // What the vehicle did not tell is of fences that it did not have.
        let surprising = stored.filter { van.alarms[$0.key] == nil && $0.isStale }.map {
            "\($0.action) \($0.fence).\($0.revision) at \($0.point.time.milliseconds - 1_700_000_000_000) \($0.group ?? "")"
        }
        #expect(
            surprising.isEmpty,
            "seed \(seed): the vehicle misses \(surprising)"
        )
    }

    /// A backlog comes in one call, and the vehicle had other fences for each of its batches.
    @Test func eachBatchOfACallIsJudgedByItsOwnFences() async throws {
        let bench = try await Bench()
        let service = try #require(ServiceID(rawValue: 1))
        try await bench.store.haveEntity(named: "van", in: service, at: .at(-1000))
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 200)))
        definition.watch = .everyone
        var record = try await bench.store.createFence(definition, in: service, at: .at(-900))
        var versions = [record.version]
        for name in 1...5 {
            definition.name = "\(name)"
            record = try await bench.store.updateFence(
                1, to: definition, expecting: record.version, in: service, at: .at(-900 + Int64(name)))
            versions.append(record.version)
        }
        definition.shape = ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 50))
        _ = try await bench.store.updateFence(
            1, to: definition, expecting: record.version, in: service, at: .at(-800))
        let batches = try versions.enumerated().map { index, version in
            let first = -30 + 5 * Int64(index)
            let points = try (first..<first + 5).map { second in
                let place = try #require(Coordinate(latitude: 40, longitude: 116 + Double(second) * 10 / 85_393.76))
                return TrackPoint(
                    Fix(time: .at(second), coordinate: place, speed: 1000, accuracy: 50, mode: .threeDimensional))
            }
            let used = FencesUsed(version: version, after: .at(first - 1), base: index == 0 ? 0 : versions[index - 1])
            return IngestBatch(
                service: service, entity: "van", position: nil, points: points, sequences: [], payload: nil,
                received: .at(100), fencesUsed: [used])
        }
        #expect(await bench.writer.submit(batches) == batches.map { _ in .success(0) })
        let found = try await bench.store.alarms(
            in: service, matching: AlarmFilter(includesStale: true), page: Page(offset: 0, limit: 10)
        ).alarms.map(\.alarm)
        #expect(found.map(\.revision) == [1])
        #expect(found.map(\.point.time) == [.at(-19)])
    }

    @Test func anAlarmOfAReplacedRevisionIsStale() async throws {
        let bench = try await Bench()
        let service = try #require(ServiceID(rawValue: 1))
        try await bench.store.haveEntity(named: "van", in: service, at: .at(-1000))
        func circle(_ radius: Double) -> FenceDefinition {
            var definition = FenceDefinition(
                ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: radius)))
            definition.watch = .everyone
            return definition
        }
        let wide = try await bench.store.createFence(circle(200), in: service, at: .at(-900))
        _ = try await bench.store.updateFence(1, to: circle(50), expecting: wide.version, in: service, at: .at(0))
        func upload(_ times: ClosedRange<Int64>, _ used: [FencesUsed]) async throws {
            let points = try times.map { second in
                let place = try #require(Coordinate(latitude: 40, longitude: 116 + Double(second) * 10 / 85_393.76))
                return TrackPoint(
                    Fix(time: .at(second), coordinate: place, speed: 1000, accuracy: 50, mode: .threeDimensional))
            }
            let batch = IngestBatch(
                service: service, entity: "van", position: nil, points: points, sequences: [], payload: nil,
                received: .at(100), fencesUsed: used)
            #expect(await bench.writer.submit([batch]) == [.success(0)])
        }
        // The vehicle is away: by its revision it enters 200 m before the centre, and leaves 200 m behind it.
        let offline = FencesUsed(version: wide.version, after: .at(-300))
        try await upload(-30...30, [offline])
        let all = try await bench.store.alarms(
            in: service, matching: AlarmFilter(includesStale: true), page: Page(offset: 0, limit: 10)
        ).alarms.map(\.alarm)
        #expect(all.map(\.revision) == [1, 1])
        #expect(all.map(\.action) == [.enter, .exit])
        #expect(all.map(\.isStale) == [false, true])
        let told = try await bench.store.alarms(in: service, matching: AlarmFilter(), page: Page(offset: 0, limit: 10))
        #expect(told.alarms.map(\.alarm.action) == [.enter])
        // A version that nobody knows: the present fences judge.
        try await upload(31...40, [FencesUsed(version: 17, after: .at(0))])
    }
}
