import TrackModel
import TrackStore

extension TrackStoreContract {
    /// How long points are kept: ``ServiceStore`` and ``StoreMaintenance``.
    package static var retention: [TrackStoreCheck] {
        [
            TrackStoreCheck("a service says how long it keeps its points") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try expect(try await store.services().map(\.retention), is: [.standard, .standard], "at first")
                for retention in [Retention.days(30), .forever, .days(Retention.mostDays), .standard] {
                    try await store.setRetention(retention, of: service)
                    try expect(try await store.services().map(\.retention), is: [retention, .standard], "set")
                }
                let missing = try unwrapped(ServiceID(rawValue: 99), "a number")
                try await expect(.unknownService) { try await store.setRetention(.forever, of: missing) }
                try await expect(.unknownService) {
                    try await store.removePoints(of: missing, before: .at(1), after: nil, limit: 1)
                }
                try await store.setRetention(.days(1), of: other)
                try expect(try await store.services().map(\.retention), is: [.standard, .days(1)], "of the other")
            },
            TrackStoreCheck("old points of one service go, and nothing else") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                for id in [service, other] {
                    _ = try await store.upload([
                        subject.custom(id, TrackPoint.samples(0..<6), received: .at(10)),
                        subject.custom(id, TrackPoint.samples(100..<106), received: .at(200)),
                        subject.custom(id, entity: "old", TrackPoint.samples(0..<3), received: .at(10)),
                    ])
                }
                let kept = try await store.history(in: other)
                let border = TrackPoint.sample(50).fix.time
                try expect(try await store.removeAll(of: service, before: border, limit: 1), is: 9, "removed points")
                let all = try await store.points(
                    of: "truck", in: service, from: .at(-1_000_000), through: .at(9_000_000_000), limit: 99)
                try expect(all.map(\.point), is: TrackPoint.samples(100..<106), "kept points")
                let old = try await store.entity(named: "old", in: service)
                try expect(old != nil, is: true, "the entity stays")
                try expect(old?.latest, is: nil, "its position goes")
                try expect(
                    try await store.entity(named: "truck", in: service)?.latest?.point, is: .sample(105), "latest")
                try expect(try await store.history(in: other), is: kept, "the other service")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
                // The entity goes on.
                _ = try await store.upload([
                    subject.custom(service, entity: "old", [.sample(120)], received: .at(300))
                ])
                try expect(
                    try await store.entity(named: "old", in: service)?.latest?.point, is: .sample(120), "new position")
                try expect(try await store.checkIntegrity(), is: [], "integrity after a new point")
            },
            TrackStoreCheck("what came late is kept as long as what came in time") { subject in
                let (store, service) = try await subject.withService()
                let border = TrackPoint.sample(50).fix.time
                // A vehicle comes back after a winter: old points, received now.
                _ = try await store.upload([
                    subject.custom(
                        service, TrackPoint.samples(0..<6), received: border.adding(milliseconds: 1))
                ])
                let count = try await store.removeAll(of: service, before: border, limit: 9)
                try expect(count, is: 0, "removed before their time")
                let later = try await store.removeAll(of: service, before: border.adding(milliseconds: 2), limit: 9)
                try expect(later, is: 6, "removed in their time")
            },
            TrackStoreCheck("a removal that is cut goes on with any entity and any limit") { subject in
                for limit in 1...5 {
                    let (store, service) = try await subject.withService()
                    let border = TrackPoint.sample(50).fix.time
                    // Of the second only a part may go, of the third nothing.
                    for (entity, received) in [("a", 1), ("b", 1), ("b", 900_000), ("c", 900_000), ("d", 1), ("É", 1)] {
                        for start in stride(from: Int64(0), to: 40, by: 10) {
                            let points = TrackPoint.samples(start..<(start + 2))
                            let shifted = received == 1 ? points : TrackPoint.samples((start + 4)..<(start + 6))
                            _ = try await store.upload([
                                subject.custom(service, entity: entity, shifted, received: .at(Int64(received)))
                            ])
                        }
                    }
                    let removed = try await store.removeAll(of: service, before: border, limit: limit)
                    try expect(removed, is: 32, "removed points with the limit \(limit)")
                    var left: [Int] = []
                    for entity in ["a", "b", "c", "d", "É"] {
                        left.append(try await store.history(of: entity, in: service).count)
                    }
                    try expect(left, is: [0, 8, 8, 0, 0], "points that stay with the limit \(limit)")
                    try expect(try await store.checkIntegrity(), is: [], "integrity")
                }
            },
            TrackStoreCheck("a position stays while its entity has points") { subject in
                let (store, service) = try await subject.withService()
                let border = TrackPoint.sample(50).fix.time
                _ = try await store.upload([
                    subject.custom(service, TrackPoint.samples(0..<6), received: border.adding(milliseconds: 5)),
                    subject.custom(service, TrackPoint.samples(20..<26), received: .at(30)),
                ])
                let count = try await store.removeAll(of: service, before: border, limit: 9)
                try expect([0, 5].contains(count), is: true, "\(count) removed")
                let latest = try await store.entity(named: "truck", in: service)?.latest?.point
                try expect(latest, is: .sample(25), "latest")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("old points go although others are dated years ahead") { subject in
                let (store, service) = try await subject.withService()
                let years = Int64(20 * 365 * 86_400)
                let border = TrackPoint.sample(50).fix.time
                func upload(_ points: [TrackPoint], received: Timestamp, entity: String) async throws {
                    _ = try await store.upload([
                        subject.custom(service, entity: entity, points, received: received)
                    ])
                }
                for entity in ["truck", "many", "late"] {
                    try await upload(TrackPoint.samples(years..<(years + 4)), received: .at(0), entity: entity)
                    try await upload(TrackPoint.samples(0..<6), received: .at(6), entity: entity)
                }
                // More of them than one chunk.
                for start in 1...80 as ClosedRange<Int64> {
                    let point = TrackPoint.sample(years + start * 800_000)
                    try await upload([point], received: .at(1), entity: "many")
                }
                // What came late is kept as long as others, and the position with it.
                try await upload(
                    TrackPoint.samples(2..<3, mark: 1), received: border.adding(milliseconds: 1), entity: "late")
                try await upload(TrackPoint.samples(6..<8), received: .at(8), entity: "late")
                for (entity, latest) in [("truck", TrackPoint.sample(5)), ("many", .sample(5)), ("late", .sample(7))] {
                    let found = try await store.entity(named: entity, in: service)?.latest?.point
                    try expect(found, is: latest, "latest of \(entity) at first")
                }
                var removed = 0
                for _ in 0..<3 { removed += try await store.removeAll(of: service, before: border, limit: 64) }
                try expect(removed >= 100, is: true, "\(removed) removed")
                for entity in ["truck", "many"] {
                    try expect(
                        try await store.entity(named: entity, in: service)?.latest, is: nil, "latest of \(entity)")
                    let left = try await store.history(of: entity, in: service)
                    try expect(left.map(\.point), is: [], "points of \(entity)")
                }
                let late = try await store.entity(named: "late", in: service)?.latest?.point
                try expect(late, is: .sample(7), "latest of what came late")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("an old hint is no position that stays") { subject in
                let (store, service) = try await subject.withService()
                let border = TrackPoint.sample(50).fix.time
                _ = try await store.upload([
                    subject.custom(service, TrackPoint.samples(0..<6), received: .at(6)),
                    subject.hint(service, .sample(20), received: .at(20)),
                ])
                try expect(
                    try await store.entity(named: "truck", in: service)?.latest?.point, is: .sample(20), "at first")
                let count = try await store.removeAll(of: service, before: .at(10), limit: 9)
                try expect(count, is: 6, "removed")
                try expect(
                    try await store.entity(named: "truck", in: service)?.latest?.point, is: .sample(20), "a new hint")
                _ = try await store.removeAll(of: service, before: border, limit: 9)
                try expect(try await store.entity(named: "truck", in: service)?.latest, is: nil, "an old hint")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("old points that were dated ahead of the server's clock are no position that stays") {
                subject in
                let (store, service) = try await subject.withService()
                let border = TrackPoint.sample(50).fix.time
                _ = try await store.upload([
                    subject.custom(service, TrackPoint.samples(20..<26), received: .at(0)),
                    subject.custom(service, TrackPoint.samples(0..<6), received: border.adding(milliseconds: 5)),
                ])
                let count = try await store.removeAll(of: service, before: border, limit: 9)
                try expect(count, is: 6, "removed")
                let latest = try await store.entity(named: "truck", in: service)?.latest?.point
                try expect(latest, is: .sample(5), "latest")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
        ]
    }
}

extension TrackStore {
    /// Step by step until nothing is left to look at; returns how many points are gone.
    fileprivate func removeAll(of service: ServiceID, before time: Timestamp, limit: Int) async throws -> Int {
        var (removed, mark): (Int, RemovalCursor?) = (0, nil)
        repeat {
            let step = try await removePoints(of: service, before: time, after: mark, limit: limit)
            removed += step.removed
            mark = step.cursor
        } while mark != nil
        return removed
    }
}
