import Geodesy
import Geofencing
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``FenceStore``
    package static var fences: [TrackStoreCheck] {
        fenceDefinitions + fenceWatches + fenceNotices + fenceHistory + watchHistories
    }

    private static var fenceDefinitions: [TrackStoreCheck] {
        [
            TrackStoreCheck("a fence is kept as it was given, with a number that is never used again") { subject in
                let (store, service) = try await subject.withFleet()
                let other = try await store.createService(named: "other", at: .at(0)).id
                var definition = try FenceDefinition.sample("depot", watching: ["van"])
                definition.denoise = 50
                let first = try await store.createFence(definition, in: service, at: .at(5))
                try expect(first.fence.id, is: 1, "the first number")
                try expect(first.fence.definition, is: definition, "the definition")
                try expect(first.fence.created, is: .at(5), "when it was made")
                let second = try await store.createFence(.everyone("yard"), in: service, at: .at(6))
                try expect(second.fence.id, is: 2, "the second number")
                try expect(second.version > first.version, is: true, "that versions ascend")
                try expect(second.everyoneSince, is: .at(6), "since when it watches everyone")
                try expect(try await store.fence(1, in: service), is: first, "the first, read again")
                try expect(try await store.fence(2, in: service), is: second, "the second, read again")
                try expect(try await store.fence(1, in: other), is: nil, "in another service")
                try expect(
                    try await store.createFence(.sample("own"), in: other, at: .at(7)).fence.id, is: 1,
                    "the first number of another service")
                let deleted = try await store.deleteFences(
                    matching: FenceFilter(fences: [2, 2, 77]), in: service, at: .at(8))
                try expect(deleted, is: [2], "those that were deleted")
                try expect(try await store.fence(2, in: service), is: nil, "the deleted one")
                let third = try await store.createFence(.sample("gate"), in: service, at: .at(9))
                try expect(third.fence.id, is: 3, "the number after a deletion")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("a fence that breaks a rule, or names what is not there, is not made at all") { subject in
                let (store, service) = try await subject.withFleet()
                let before = try await store.fenceNotices(after: nil, limit: 9).through
                let wrong = try FenceDefinition.sample("wrong", radius: 0)
                try await expect(.refusedFence) { try await store.createFence(wrong, in: service, at: .at(1)) }
                try await expect(.unknownEntity) {
                    try await store.createFence(.sample("x", watching: ["van", "ghost"]), in: service, at: .at(1))
                }
                let nowhere = ServiceID(rawValue: 99) ?? service
                try await expect(.unknownService) {
                    try await store.createFence(.sample("x"), in: nowhere, at: .at(1))
                }
                try await expect(.unknownService) {
                    try await store.deleteFences(matching: FenceFilter(), in: nowhere, at: .at(1))
                }
                try expect(try await store.list(service), is: [], "fences")
                try expect(try await store.fenceNotices(after: before, limit: 9).notices, is: [], "notices")
                try expect(
                    try await store.createFence(.sample("x"), in: service, at: .at(1)).fence.id, is: 1,
                    "the first number")
            },
            TrackStoreCheck("a change is made to the version that its author has read, or not at all") { subject in
                let (store, service) = try await subject.withFleet()
                let made = try await store.createFence(.sample("depot", watching: ["van"]), in: service, at: .at(1))
                let wide = try FenceDefinition.sample("depot", watching: ["van"], radius: 500)
                let changed = try await store.updateFence(
                    1, to: wide, expecting: made.version, in: service, at: .at(2))
                try expect(changed.fence.revision, is: 2, "the revision")
                try expect(changed.fence.revisedAt, is: .at(2), "when it was revised")
                try expect(changed.version > made.version, is: true, "that the version ascends")
                try expect(try await store.fence(1, in: service), is: changed, "the fence, read again")
                try await expect(.fenceChanged) {
                    try await store.updateFence(
                        1, to: .sample("late"), expecting: made.version, in: service, at: .at(3))
                }
                let same = try await store.updateFence(
                    1, to: wide, expecting: changed.version, in: service, at: .at(4))
                try expect(same, is: changed, "a change that changes nothing")
                try await expect(.refusedFence) {
                    try await store.updateFence(
                        1, to: .sample("x", radius: -1), expecting: changed.version, in: service, at: .at(5))
                }
                try await expect(.unknownEntity) {
                    try await store.updateFence(
                        1, to: .sample("x", watching: ["ghost"]), expecting: changed.version, in: service, at: .at(5))
                }
                try await expect(.unknownFence) {
                    try await store.updateFence(9, to: wide, expecting: 1, in: service, at: .at(5))
                }
                try expect(try await store.fence(1, in: service), is: changed, "the fence after refusals")
                // Who reads anew until it fits gets it done.
                let edited = try await store.editFence(1, in: service, at: .at(6)) {
                    (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.name = "north"
                    return definition
                }
                try expect(edited.fence.definition.name, is: "north", "the new name")
                try expect(edited.fence.revision, is: 2, "the revision after a new name")
                try await expect(.unknownFence) {
                    try await store.editFence(9, in: service, at: .at(6)) { (same) throws(TrackStoreError) in same }
                }
            },
            TrackStoreCheck("fences are listed by number and by whom they watch, page by page") { subject in
                let (store, service) = try await subject.withFleet()
                _ = try await store.createFence(.sample("none"), in: service, at: .at(1))
                _ = try await store.createFence(.sample("one", watching: ["van"]), in: service, at: .at(1))
                _ = try await store.createFence(.sample("two", watching: ["van", "bus"]), in: service, at: .at(1))
                _ = try await store.createFence(.everyone("all"), in: service, at: .at(1))
                _ = try await store.createFence(.sample("bus", watching: ["bus"]), in: service, at: .at(1))
                let wanted: [(FenceFilter.Watch, [Int32])] = [
                    (.any, [1, 2, 3, 4, 5]), (.nobody, [1]), (.named, [2, 3, 5]), (.several, [3]), (.everyone, [4]),
                    (.only("van"), [2]), (.naming("van"), [2, 3]), (.watching("van"), [2, 3, 4]),
                    (.only("ghost"), []), (.naming("ghost"), []), (.watching("ghost"), [4]),
                ]
                for (watch, numbers) in wanted {
                    let found = try await store.list(service, FenceFilter(watch: watch))
                    try expect(found.map(\.fence.id), is: numbers, "\(watch)")
                }
                let both = try await store.list(service, FenceFilter(fences: [5, 3, 9], watch: .naming("van")))
                try expect(both.map(\.fence.id), is: [3], "numbers and watch")
                try expect(try await store.list(service, FenceFilter(fences: [])), is: [], "no number")
                let page = try await store.fences(
                    in: service, matching: FenceFilter(), page: Page(offset: 1, limit: 2))
                try expect(page.total, is: 5, "how many there are")
                try expect(page.fences.map(\.fence.id), is: [2, 3], "the page")
                let readable = try await store.readableFences(
                    in: service, matching: FenceFilter(), page: Page(offset: 1, limit: 2))
                try expect(readable, is: ReadableFences(total: 5, fences: page.fences), "the page, readable")
                let later = try await store.list(service, FenceFilter(watch: .named, after: 2))
                try expect(later.map(\.fence.id), is: [3, 5], "fences after a number")
                for atOnce in 1...6 {
                    let all = try await store.allReadableFences(
                        in: service, matching: FenceFilter(watch: .named), atOnce: atOnce)
                    try expect(all.fences.map(\.fence.id), is: [2, 3, 5], "all, \(atOnce) at once")
                }
                let many = FenceFilter(fences: Array(1...Int32(FenceRules.mostNumbers) + 1))
                try await expect(.tooManyNames) { try await store.list(service, many) }
                try await expect(.tooManyNames) {
                    try await store.deleteFences(matching: many, in: service, at: .at(2))
                }
                let gone = try await store.deleteFences(
                    matching: FenceFilter(watch: .only("van")), in: service, at: .at(3))
                try expect(gone, is: [2], "those that watch the van alone")
                try expect(try await store.list(service).map(\.fence.id), is: [1, 3, 4, 5], "what is left")
            },
        ]
    }

    private static var fenceWatches: [TrackStoreCheck] {
        [
            TrackStoreCheck("who made a fence is known for good") { subject in
                let (store, service) = try await subject.withFleet()
                _ = try await store.createFence(.sample("a", watching: ["van"]), in: service, at: .at(1))
                _ = try await store.createFence(.sample("b", watching: ["van"]), by: "van", in: service, at: .at(2))
                _ = try await store.createFence(.sample("c", watching: ["van"]), by: "bus", in: service, at: .at(3))
                _ = try await store.editFence(2, in: service, at: .at(4)) { (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.name = "other"
                    return definition
                }
                func found(_ maker: FenceFilter.Maker) async throws -> [Int32] {
                    try await store.list(service, FenceFilter(watch: .only("van"), maker: maker)).map(\.fence.id)
                }
                try expect(try await found(.anyone), is: [1, 2, 3], "all")
                try expect(try await found(.vehicle("van")), is: [2], "the van's")
                try expect(try await found(.otherThan("van")), is: [1, 3], "others'")
                try expect(try await found(.vehicle("va")), is: [], "nobody's")
                let gone = try await store.deleteFences(
                    matching: FenceFilter(watch: .only("van"), maker: .vehicle("van")), in: service, at: .at(5))
                try expect(gone, is: [2], "those that the van may remove")
            },
            TrackStoreCheck("the second in which a fence begins to watch belongs to it") { subject in
                let (store, service) = try await subject.withFleet()
                let (van, bus) = (EntityKey(service: service, name: "van"), EntityKey(service: service, name: "bus"))
                func late(_ second: Int64) -> Timestamp { .at(second).adding(milliseconds: 700) }
                try await store.put("van", (52, 4), at: 4, in: service)
                try await store.put("bus", (52, 4), at: 5, in: service)
                let made = try await store.createFence(
                    .sample("a", watching: ["van", "bus"]), in: service, at: late(5))
                try expect(made.fence.created, is: late(5), "when it was made")
                try expect(try await store.watchTimes(of: van), is: [1: .at(5)], "of an entity with older points")
                // Whether the fence has seen the point of this second could not be told apart later.
                try expect(try await store.watchTimes(of: bus), is: [1: late(5)], "of one with a point of the second")
                let open = try await store.createFence(.everyone("b"), in: service, at: late(6))
                try expect(open.everyoneSince, is: .at(6), "of a fence that watches everyone")
                for (name, second) in [("van", 7), ("bus", 8)] as [(String, Int64)] {
                    let named = try await store.createFence(.sample(name), in: service, at: late(1))
                    _ = try await store.editFence(named.fence.id, in: service, at: late(second)) {
                        (definition) throws(TrackStoreError) in
                        var definition = definition
                        definition.watch = try FenceSubjects.nobody.with([name])
                        return definition
                    }
                }
                try expect(try await store.watchTimes(of: van), is: [1: .at(5), 3: .at(7)], "watched later")
                try expect(try await store.watchTimes(of: bus), is: [1: late(5), 4: .at(8)], "watched later, too")
                let wider = try await store.editFence(3, in: service, at: late(9)) {
                    (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.watch = .everyone
                    return definition
                }
                try expect(wider.everyoneSince, is: late(9), "of one that watches everyone later")
            },
            TrackStoreCheck("who is watched is watched since then, whatever else changes") { subject in
                let (store, service) = try await subject.withFleet()
                func watched(_ name: String) async throws -> [Int32: Timestamp] {
                    let key = EntityKey(service: service, name: name)
                    let times = Dictionary(
                        try await store.fences(naming: [key]).fences.joined().map { ($0.record.fence.id, $0.since) },
                        uniquingKeysWith: { first, _ in first })
                    try expect(try await store.watchTimes(of: key), is: times, "the times alone")
                    return times
                }
                _ = try await store.createFence(.sample("a", watching: ["van"]), in: service, at: .at(1))
                _ = try await store.createFence(.sample("b", watching: ["van", "bus"]), in: service, at: .at(2))
                try expect(try await watched("van"), is: [1: .at(1), 2: .at(2)], "of the van")
                _ = try await store.editFence(1, in: service, at: .at(3)) { (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.watch = try definition.watch.with(["bus"])
                    return definition
                }
                try expect(try await watched("van"), is: [1: .at(1), 2: .at(2)], "of the van, when the bus has come")
                try expect(try await watched("bus"), is: [1: .at(3), 2: .at(2)], "of the bus")
                // Away and back: a new beginning.
                for (names, time) in [(["bus"], 4), (["bus", "van"], 5)] as [([String], Int64)] {
                    _ = try await store.editFence(1, in: service, at: .at(time)) {
                        (definition) throws(TrackStoreError) in
                        var definition = definition
                        definition.watch = try FenceSubjects.nobody.with(names)
                        return definition
                    }
                }
                try expect(try await watched("van"), is: [1: .at(5), 2: .at(2)], "of the van, when it is back")
                try expect(try await watched("bus"), is: [1: .at(3), 2: .at(2)], "of the bus, which stayed")
                // Everyone, and then one by name.
                var record = try await store.editFence(2, in: service, at: .at(6)) {
                    (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.watch = .everyone
                    return definition
                }
                try expect(record.everyoneSince, is: .at(6), "since when it watches everyone")
                try expect(try await watched("van"), is: [1: .at(5)], "by name")
                record = try await store.editFence(2, in: service, at: .at(7)) { (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.name = "c"
                    return definition
                }
                try expect(record.everyoneSince, is: .at(6), "after a new name")
                record = try await store.editFence(2, in: service, at: .at(8)) { (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.watch = try FenceSubjects.nobody.with(["van"])
                    return definition
                }
                try expect(record.everyoneSince, is: nil, "when it watches one alone")
                try expect(try await watched("van"), is: [1: .at(5), 2: .at(6)], "of the van in the end")
                let lists = try await store.fences(
                    naming: ["ghost", "van"].map { EntityKey(service: service, name: $0) })
                try expect(lists.fences.map(\.count), is: [0, 2], "one list an entity")
                let last = try await store.fences(
                    watching: EntityKey(service: service, name: "van"), page: Page(offset: 0, limit: 0))
                try expect(lists.version, is: last.version, "the version of the lists")
                // A deleted entity is named as before, and the next one of its name is watched.
                try await store.deleteEntity(named: "van", in: service, at: .at(9))
                try expect(try await watched("van"), is: [1: .at(5), 2: .at(6)], "of a deleted entity")
                let edited = try await store.editFence(1, in: service, at: .at(10)) {
                    (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.name = "still"
                    return definition
                }
                try expect(edited.fence.definition.watch.contains("van"), is: true, "that a change keeps the name")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("the fence states of entities are what the last batch left, with their versions") {
                subject in
                let (store, service) = try await subject.withFleet()
                var batch = subject.custom(service, entity: "van", [.sample(1)])
                batch.fences = [4, 2]
                _ = await store.ingest([batch, subject.custom(service, entity: "bus", [.sample(1)])])
                let names = ["truck", "van", "ghost", "bus"]
                let states = try await store.fenceStates(of: names.map { EntityKey(service: service, name: $0) })
                try expect(states.map(\.fences), is: [nil, [4, 2], nil, nil], "states")
                try expect(states.map { $0.version > 0 }, is: [false, true, false, true], "versions")
                let claim = try await store.openStream(.one, of: "van", in: service, at: .at(3))
                try expect(claim.version, is: states[1].version, "the version that a claim tells")
            },
        ]
    }

    private static var fenceNotices: [TrackStoreCheck] {
        [
            TrackStoreCheck("every change of a fence is a notice that names whom it concerns") { subject in
                let (store, service) = try await subject.withFleet()
                _ = try await store.createFence(.sample("before"), in: service, at: .at(1))
                var cursor = try await store.fenceNotices(after: nil, limit: 9).through
                try expect(try await store.fenceNotices(after: cursor, limit: 9).notices, is: [], "at first")
                let made = try await store.createFence(.sample("a", watching: ["van"]), in: service, at: .at(2))
                let changed = try await store.editFence(2, in: service, at: .at(3)) {
                    (definition) throws(TrackStoreError) in
                    var definition = definition
                    definition.watch = try FenceSubjects.nobody.with(["bus"])
                    return definition
                }
                let all = try await store.createFence(.everyone("all"), in: service, at: .at(4))
                _ = try await store.deleteFences(matching: FenceFilter(fences: [1, 2]), in: service, at: .at(5))
                var notices = try await store.fenceNotices(after: cursor, limit: 2)
                try expect(notices.notices?.map(\.fence), is: [2, 2], "the first two")
                try expect(notices.notices?.map(\.entities), is: [["van"], ["bus", "van"]], "whom they concern")
                try expect(notices.notices?.map(\.version), is: [made.version, changed.version], "their versions")
                cursor = notices.through
                notices = try await store.fenceNotices(after: cursor, limit: 9)
                try expect(notices.notices?.map(\.fence), is: [3, 1, 2], "the others")
                try expect(notices.notices?.map(\.entities), is: [[], [], ["bus"]], "whom the others concern")
                try expect(
                    notices.notices?.map(\.concernsEveryone), is: [true, false, false], "which concern everyone")
                try expect(notices.notices?.first?.version, is: all.version, "the version of the first of the others")
                try expect(notices.notices?.allSatisfy { $0.service == service }, is: true, "the service")
                try expect(try await store.fenceNotices(after: notices.through, limit: 9).notices, is: [], "in the end")
            },
            TrackStoreCheck("who has missed forgotten notices is told so") { subject in
                let (store, service) = try await subject.withFleet()
                let begin = try await store.fenceNotices(after: nil, limit: 9).through
                for time in 1...4 as ClosedRange<Int64> {
                    _ = try await store.createFence(.sample("\(time)"), in: service, at: .at(time))
                }
                let second = try await store.fenceNotices(after: begin, limit: 2).through
                try expect(try await store.removeFenceNotices(before: .at(3), limit: 1), is: 1, "removed at first")
                try expect(try await store.removeFenceNotices(before: .at(3), limit: 9), is: 1, "removed then")
                try expect(try await store.removeFenceNotices(before: .at(3), limit: 9), is: 0, "removed in the end")
                let lost = try await store.fenceNotices(after: begin, limit: 9)
                try expect(lost.notices, is: nil, "notices for who has missed some")
                try expect(
                    try await store.fenceNotices(after: lost.through, limit: 9).notices, is: [], "notices from then on")
                let kept = try await store.fenceNotices(after: second, limit: 9)
                try expect(kept.notices?.map(\.fence), is: [3, 4], "notices for who has missed none")
                try expect(
                    try await store.removeFenceNotices(before: .at(9), limit: 9), is: 2, "removed without an end")
                try expect(
                    try await store.fenceNotices(after: kept.through, limit: 9).notices, is: [], "notices of nothing")
                try expect(
                    try await store.fenceNotices(after: second, limit: 9).notices, is: nil, "notices that are all gone")
                try await expect(.failed) {
                    try await store.fenceNotices(after: StoreCursor("another's"), limit: 9)
                }
            },
        ]
    }
}

extension TrackStore {
    fileprivate func list(
        _ service: ServiceID, _ filter: FenceFilter = FenceFilter()
    ) async throws(TrackStoreError) -> [FenceRecord] {
        try await fences(in: service, matching: filter, page: Page(offset: 0, limit: 1000)).fences
    }
}

extension FenceSubjects {
    fileprivate func with(_ names: [String]) throws(TrackStoreError) -> FenceSubjects {
        do throws(FenceError) {
            return try adding(names)
        } catch {
            throw TrackStoreError(.refusedFence, error.description)
        }
    }
}
