import Geodesy
import Geofencing
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// Earlier versions of fences: ``FenceStore/fenceDifference(of:since:)``
    static var fenceHistory: [TrackStoreCheck] {
        [
            TrackStoreCheck("an entity's fences of any version can be told from the present ones") { subject in
                let (store, service) = try await subject.withFleet()
                let fleet = ["van", "bus", "truck"].map { EntityKey(service: service, name: $0) }
                var kept: [(entity: EntityKey, version: Int64, fences: [SubjectFence])] = []
                // A small generator of its own: each run of the suite does the same.
                var dice: UInt64 = 7
                func roll(_ sides: UInt64) -> Int {
                    dice = dice &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return Int(dice >> 33) % Int(sides)
                }
                for step in 1...120 as ClosedRange<Int64> {
                    let watch =
                        try roll(3) == 0
                        ? FenceSubjects.everyone : FenceSubjects(fleet.map(\.name).filter { _ in roll(2) == 0 })
                    let fences = try await store.fences(
                        in: service, matching: FenceFilter(), page: Page(offset: 0, limit: 99)
                    ).fences
                    switch roll(5) {
                    case 0...(fences.count < 8 ? 1 : 0):
                        var definition = try FenceDefinition.sample("\(step)")
                        definition.watch = watch
                        _ = try await store.createFence(definition, in: service, at: .at(step))
                    case 2 where !fences.isEmpty:
                        let fence = fences[roll(UInt64(fences.count))].fence.id
                        _ = try await store.deleteFences(
                            matching: FenceFilter(fences: [fence]), in: service, at: .at(step))
                    default:
                        guard !fences.isEmpty else { continue }
                        let fence = fences[roll(UInt64(fences.count))].fence.id
                        let change = roll(3)
                        _ = try await store.editFence(fence, in: service, at: .at(step)) {
                            (definition) throws(TrackStoreError) in
                            var definition = definition
                            switch change {
                            case 0: definition.name = "\(step)"
                            case 1: definition.denoise = Int32(step)
                            default: definition.watch = watch
                            }
                            return definition
                        }
                    }
                    for entity in fleet {
                        let present = try await store.fences(watching: entity, page: Page(offset: 0, limit: 99))
                        kept.append((entity, present.version, present.fences))
                    }
                }
                for (entity, version, fences) in kept {
                    let difference = try await store.fenceDifference(of: entity, since: version)
                    let now = try await store.fences(watching: entity, page: Page(offset: 0, limit: 99))
                    try expect(difference.version, is: now.version, "the version of now")
                    guard let changes = difference.changes else {
                        throw ContractViolation(description: "the version \(version) is not known")
                    }
                    let changed = Set(changes.map(\.fence))
                    let unchanged = now.fences.filter { !changed.contains($0.record.fence.id) }
                    let then =
                        unchanged.map { Then($0.record.fence, $0.since) }
                        + changes.compactMap(\.former).map { Then($0.fence, $0.since) }
                    let wanted = fences.map { Then($0.record.fence, $0.since) }
                    try expect(Set(then), is: Set(wanted), "the fences of \(entity.name) at version \(version)")
                    let missing = changes.filter { $0.former == nil && $0.present == nil }
                    try expect(missing, is: [], "changes that do not concern \(entity.name)")
                    let present = changes.compactMap(\.present).allSatisfy { now.fences.contains($0) }
                    try expect(present, is: true, "that what is new is what there is")
                }
                let first = try await store.fences(watching: fleet[0], page: Page(offset: 1, limit: 2)).fences
                let all = try await store.fences(watching: fleet[0], page: Page(offset: 0, limit: 99)).fences
                try expect(first, is: Array(all.dropFirst().prefix(2)), "a page")
            },
            TrackStoreCheck("a new name replaces no fence, and the end of a watch does") { subject in
                let (store, service) = try await subject.withFleet()
                let (van, bus) = (EntityKey(service: service, name: "van"), EntityKey(service: service, name: "bus"))
                let made = try await store.createFence(
                    .sample("a", watching: ["van", "bus"]), in: service, at: .at(10))
                func edit(_ second: Int64, _ change: @escaping @Sendable (inout FenceDefinition) -> Void) async throws {
                    _ = try await store.editFence(1, in: service, at: .at(second)) {
                        (definition) throws(TrackStoreError) in
                        var definition = definition
                        change(&definition)
                        return definition
                    }
                }
                func end(_ entity: EntityKey) async throws -> Timestamp? {
                    try await store.fenceDifference(of: entity, since: made.version).changes?.first?.former?.replaced
                }
                try await edit(20) { $0.name = "b" }
                try expect(try await end(van), is: .at(20), "the last change, when nothing is replaced")
                try await edit(30) { $0.watch = (try? FenceSubjects(["bus"])) ?? .nobody }
                try await edit(40) { $0.name = "c" }
                try expect(try await end(van), is: .at(30), "when the watch ended")
                try expect(try await end(bus), is: .at(40), "the last change for who is watched all the time")
                try await edit(50) { $0.denoise = 33 }
                try await edit(60) { $0.denoise = 44 }
                try expect(try await end(bus), is: .at(50), "when the revision changed")
                try expect(try await end(van), is: .at(30), "when the watch ended, after all")
            },
            TrackStoreCheck("what was replaced is told with its time, and a version that is not known is told so") {
                subject in
                let (store, service) = try await subject.withFleet()
                let van = EntityKey(service: service, name: "van")
                let made = try await store.createFence(.sample("a", watching: ["van"]), in: service, at: .at(10))
                try expect(made.version, is: Timestamp.at(10).milliseconds, "a version that is its time")
                let wide = try await store.updateFence(
                    1, to: .sample("a", watching: ["van"], radius: 300), expecting: made.version, in: service,
                    at: .at(20))
                // The clock went back: versions grow all the same.
                _ = try await store.deleteFences(matching: FenceFilter(fences: [1]), in: service, at: .at(5))
                let since = try await store.fenceDifference(of: van, since: made.version)
                try expect(since.version, is: wide.version + 1, "the version of now")
                let former = FormerFence(fence: made.fence, since: .at(10), replaced: .at(20))
                try expect(since.changes, is: [.init(fence: 1, former: former, present: nil)], "since the first")
                let later = try await store.fenceDifference(of: van, since: wide.version)
                try expect(later.changes?.first?.former?.replaced, is: .at(5), "when the second was deleted")
                try expect(try await store.fenceDifference(of: van, since: since.version).changes, is: [], "since now")
                for unknown in [0, 2, made.version + 1, since.version + 1, .max] {
                    let difference = try await store.fenceDifference(of: van, since: unknown)
                    try expect(difference.changes, is: nil, "since \(unknown)")
                    try expect(difference.version, is: since.version, "the version to begin with")
                }
                let begin = try await store.fenceDifference(of: van, since: 1)
                try expect(begin.changes, is: [], "since the beginning, when the fence was not yet there")
                _ = try await store.removeFenceNotices(before: .at(20), limit: 9)
                try expect(
                    try await store.fenceDifference(of: van, since: 1).changes, is: nil, "what is forgotten")
                try expect(
                    try await store.fenceDifference(of: van, since: made.version).changes?.count, is: 1,
                    "since the last change that is forgotten")
                _ = try await store.removeFenceNotices(before: .at(30), limit: 9)
                try expect(
                    try await store.fenceDifference(of: van, since: since.version).changes, is: [],
                    "the last version, when all is forgotten")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
        ]
    }

    private struct Then: Hashable {
        let fence: Fence
        let since: Timestamp

        init(_ fence: Fence, _ since: Timestamp) {
            self.fence = fence
            self.since = since
        }
    }
}

extension FenceDefinition {
    /// A circle of 100 m around a place in the tests' country.
    static func sample(_ name: String, watching names: [String] = [], radius: Double = 100) throws -> FenceDefinition {
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 52.25, longitude: 4.5), radius: radius)))
        definition.name = name
        definition.watch = try FenceSubjects(names)
        return definition
    }

    static func everyone(_ name: String) throws -> FenceDefinition {
        var definition = try sample(name)
        definition.watch = .everyone
        return definition
    }
}

extension Alarm {
    /// An alarm at a second of the tests' time; different `mark`s have different keys.
    static func sample(
        _ seconds: Int64, mark: UInt8, fence: Int32 = 1, action: FenceAction = .enter
    ) throws -> Alarm {
        let key = AlarmKey(bytes: [UInt8](repeating: mark, count: 15) + [UInt8(truncatingIfNeeded: seconds)])
        guard let key, let place = Coordinate(latitudeE7: 522_500_000, longitudeE7: 45_000_000) else {
            throw ContractViolation(description: "the sample must have a key and a place")
        }
        return Alarm(
            key: key, source: .server, fence: fence, revision: 2, name: "depot", group: mark % 2 == 0 ? "yard" : nil,
            action: action,
            point: AlarmPoint(
                time: .at(seconds), place: place, accuracy: mark % 2 == 0 ? nil : 35, speed: 1200,
                received: .at(seconds + 1)),
            previous: mark % 3 == 0
                ? nil
                : AlarmPoint(time: .at(seconds - 5), place: place, accuracy: 40, received: .at(seconds - 3)),
            crossing: Crossing(
                time: .at(seconds - 1), place: place, isEstimated: mark % 2 == 0, earliest: .at(seconds - 5),
                latest: .at(seconds)),
            inside: action == .exit ? 12_500 : nil, skipped: Int(mark % 5),
            speedLimit: action == .overspeed ? 1389 : nil, parameters: mark % 2 == 0 ? "{\"vid\":7}" : nil)
    }
}

extension TrackStoreSubject {
    /// A new store with one service of three entities: bus, truck, van.
    func withFleet() async throws -> (store: any TrackStore, service: ServiceID) {
        let (store, service) = try await withService()
        for name in ["van", "bus", "truck"] { try await store.haveEntity(named: name, in: service, at: .at(0)) }
        return (store, service)
    }
}
