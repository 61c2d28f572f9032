import Synchronization
import TrackModel
import TrackStore

extension TrackStoreContract {
    static var ranges: [TrackStoreCheck] {
        [
            TrackStoreCheck("a range has both its ends and is in time order") { subject in
                let (store, service) = try await subject.withService()
                for start in stride(from: Int64(80), through: 0, by: -10) {
                    _ = try await store.upload([subject.custom(service, TrackPoint.samples(start..<(start + 10)))])
                }
                for from in stride(from: Int64(-5), through: 95, by: 7) {
                    for through in stride(from: Int64(-5), through: 95, by: 9) {
                        let points = try await store.points(
                            of: "truck", in: service, from: .at(from), through: .at(through), limit: 1000)
                        let wanted = (0..<90).filter { $0 >= from && $0 <= through }.map { TrackPoint.sample($0) }
                        try expect(points.map(\.point), is: wanted, "points from \(from) through \(through)")
                    }
                }
            },
            TrackStoreCheck("an unknown entity is an error, a known one without points is an empty track") {
                subject in
                let (store, service) = try await subject.withService()
                try await expect(.unknownEntity) { try await store.history(in: service) }
                try await store.haveEntity(named: "truck", in: service, at: .at(0))
                try expect(try await store.history(in: service), is: [], "points")
            },
            TrackStoreCheck("a limit is reached by as many points, and broken by one more") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([
                    subject.batch(service, first: 1, TrackPoint.samples(0..<10)),
                    subject.custom(service, TrackPoint.samples(0..<10, mark: 1)),
                ])
                try expect(try await store.history(in: service, limit: 10).count, is: 10, "points")
                try await expect(.tooManyPoints) { try await store.history(in: service, limit: 9) }
                try await expect(.tooManyPoints) { try await store.history(in: service, limit: 0) }
            },
            TrackStoreCheck("the last points are the last ones, however they were stored and however old they are") {
                subject in
                let (store, service) = try await subject.withService()
                try await expect(.unknownEntity) { try await store.lastPoints(of: "truck", in: service, count: 3) }
                try await store.haveEntity(named: "truck", in: service, at: .at(0))
                try expect(
                    try await store.lastPoints(of: "truck", in: service, count: 3).points, is: [], "points of none")
                let year: Int64 = 365 * 86_400
                // A chunk that lies over others, points that are stored again, and a point of another age.
                for part in [[0, 40], [30, 31, 32], [10], [20, 21, 22, 23], [-year], [22, 30]] as [[Int64]] {
                    _ = try await store.upload([subject.custom(service, TrackPoint.samples(part, mark: part[0]))])
                }
                let history = try await store.history(in: service).map(\.point)
                try expect(history.count, is: 11, "points")
                for round in 0..<2 {
                    for count in [-1, 0, 1, 2, 3, 5, 8, 10, 11, 12, 1000] {
                        let last = try await store.lastPoints(of: "truck", in: service, count: count)
                        try expect(
                            last.points.map(\.point), is: Array(history.suffix(max(0, count))),
                            "the last \(count), round \(round)")
                    }
                    while try await store.merge(limit: 100) > 0 {}
                }
            },
            TrackStoreCheck("points years apart in one batch are found where they belong") { subject in
                let (store, service) = try await subject.withService()
                let year: Int64 = 365 * 86_400
                _ = try await store.upload([
                    subject.custom(service, TrackPoint.samples([3 * year, 0, year, 1, 2 * year], mark: 1)),
                    subject.batch(service, first: 1, TrackPoint.samples([-5 * year, 5 * year], mark: 2)),
                ])
                for (time, mark) in [(0, 1), (1, 1), (year, 1), (2 * year, 1), (-5 * year, 2), (5 * year, 2)]
                    as [(Int64, Int64)]
                {
                    let points = try await store.points(
                        of: "truck", in: service, from: .at(time), through: .at(time), limit: 9)
                    try expect(points.map(\.point), is: [.sample(time, mark: mark)], "point at \(time)")
                }
                try expect(try await store.history(in: service).count, is: 7, "points")
            },
            TrackStoreCheck("times at the ends of 64 bits are times like others") { subject in
                let (store, service) = try await subject.withService()
                guard let place = Coordinate(latitudeE7: 1, longitudeE7: 1) else { return }
                let times: [Int64] = [.max, .min, 0, .max - 1, .min + 1]
                let points = times.map {
                    TrackPoint(Fix(time: Timestamp(milliseconds: $0), coordinate: place))
                }
                _ = try await store.upload([subject.custom(service, points)])
                while try await store.merge(limit: 100) > 0 {}
                let history = try await store.history(in: service)
                try expect(history.map(\.point.fix.time.milliseconds), is: times.sorted(), "times")
            },
            TrackStoreCheck("what readers see while others write is whole batches") { subject in
                let (store, service) = try await subject.withService()
                try await store.haveEntity(named: "truck", in: service, at: .at(0))
                let progress = Progress()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for index in 0..<40 as Range<Int64> {
                            let points = TrackPoint.samples((index * 25)..<(index * 25 + 25))
                            _ = try await store.upload([
                                subject.batch(service, first: UInt64(index * 25 + 1), points)
                            ])
                            progress.acknowledged.store(Int(index * 25 + 25), ordering: .releasing)
                            if index % 10 == 9 { _ = try await store.merge(limit: 1000) }
                        }
                    }
                    for _ in 0..<3 {
                        group.addTask {
                            var seen = 0
                            while seen < 1000 {
                                let through = progress.acknowledged.load(ordering: .acquiring)
                                let points = try await store.history(in: service).map(\.point)
                                try expect(points.count % 25, is: 0, "points beyond whole batches")
                                try expect(points.count >= max(seen, through), is: true, "nothing vanishes")
                                try expect(
                                    points, is: TrackPoint.samples(0..<Int64(points.count)), "points so far")
                                seen = points.count
                                await Task.yield()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            },
        ]
    }
}

/// How many points the writer knows to be stored.
private final class Progress: Sendable {
    let acknowledged = Atomic(0)
}
