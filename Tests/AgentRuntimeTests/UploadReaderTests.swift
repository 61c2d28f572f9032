import DiskRing
import Foundation
import Testing
import TrackModel
import TrackTestKit
import TrackWire

@testable import AgentRuntime

@Suite struct UploadReaderTests {
    private let directory = NSTemporaryDirectory() + "saker-upload-\(UInt64.random(in: 0 ... .max))"

    private func point(_ index: Int) throws -> TrackPoint {
        let coordinate = try #require(Coordinate(latitudeE7: 520_000_000 + Int32(index), longitudeE7: 43_000_000))
        return TrackPoint(
            Fix(time: Timestamp(seconds: 1_700_000_000 + Int64(index)), coordinate: coordinate, mode: .threeDimensional)
        )
    }

    private func withCache(_ body: (DiskRing) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let cache = try DiskRing(directory: directory, now: 0)
        try body(cache)
        cache.close(now: 0)
    }

    private func read(_ cache: DiskRing, after: UInt64) -> UploadReader.Reading {
        UploadReader.next(in: cache, after: after, maximumPoints: 1000, maximumBytes: 1 << 18, now: 0)
    }

    private func next(in cache: DiskRing, after: UInt64) -> PreparedUpload? {
        guard case .batch(let upload) = read(cache, after: after) else { return nil }
        return upload
    }

    private func append(_ payload: [UInt8], entity: String = "van", to cache: DiskRing, time: Int64 = 0) {
        cache.append(entity: entity, time: time, payload: payload, now: 0)
    }

    /// A ring that an earlier version has filled, and that this version goes on with.
    @Test func recordsOfEarlierFormatsAreReadAndSayNothingOfGaps() throws {
        try withCache { cache in
            var points = try (0..<4).map(point)
            points[1].isParked = true
            points[2].isParked = true
            points[3].continuity = Continuity(
                interval: 5, spans: [GapSpan(.offByStop, from: nil, until: points[3].fix.time)])
            var former = points
            former[3].continuity = nil
            for (index, format) in [1, 2, 2].enumerated() {
                let bytes = PointRecord.encode(points[index], format: format)
                #expect(bytes[0] == format)
                append(bytes, to: cache)
            }
            append(PointRecord.encode(points[3]), to: cache)
            let upload = try #require(next(in: cache, after: 0))
            let bytes = (upload.batch.bytes, upload.batch.isCompressed)
            #expect(try BatchCodec.decode(bytes.0, isCompressed: bytes.1, maximumCount: 10) == points)
            // A server of format 2 gets the same points without the gaps.
            guard
                case .batch(let old) = UploadReader.next(
                    in: cache, after: 0, maximumPoints: 1000, maximumBytes: 1 << 18, format: 2, now: 0)
            else {
                Issue.record("nothing was read")
                return
            }
            #expect(
                try BatchCodec.decode(old.batch.bytes, isCompressed: old.batch.isCompressed, maximumCount: 10) == former
            )
        }
    }

    @Test func pointsOfOneEntityTravelTogether() throws {
        try withCache { cache in
            for index in 0..<3 { append(PointRecord.encode(try point(index)), to: cache) }
            append(PointRecord.encode(try point(3)), entity: "other", to: cache)
            let first = try #require(next(in: cache, after: 0))
            #expect(first.entity == "van")
            #expect(first.lastSequence - first.firstSequence == 2)
            let decoded = try BatchCodec.decode(
                first.batch.bytes, isCompressed: first.batch.isCompressed, maximumCount: 10)
            #expect(decoded == (try (0..<3).map(point)))
            let second = next(in: cache, after: first.lastSequence)
            #expect(second?.entity == "other")
        }
    }

    @Test func anOlderServerGetsParkedPointsWithoutTheFlag() throws {
        try withCache { cache in
            var parked = try point(0)
            parked.isParked = true
            append(PointRecord.encode(parked), to: cache)
            func read(format: Int) throws -> [TrackPoint] {
                let reading = UploadReader.next(
                    in: cache, after: 0, maximumPoints: 1000, maximumBytes: 1 << 18, format: format, now: 0)
                guard case .batch(let upload) = reading else { return [] }
                #expect(Int(upload.batch.bytes[0]) == format)
                return try BatchCodec.decode(upload.batch.bytes, isCompressed: upload.batch.isCompressed)
            }
            #expect(try read(format: 2) == [parked])
            parked.isParked = false
            #expect(try read(format: 1) == [parked])
        }
    }

    @Test func theFirstPointAfterALossNamesItsReason() throws {
        try withCache { cache in
            var made = try (0..<5).map(point)
            for index in made.indices {
                made[index].continuity = Continuity(interval: 1)
                append(PointRecord.encode(made[index]), to: cache, time: Int64(index))
            }
            _ = try cache.clear(entities: nil, from: 1, through: 2, now: 0)
            let first = try #require(next(in: cache, after: 0))
            #expect(try BatchCodec.decode(first.batch.bytes, isCompressed: first.batch.isCompressed) == [made[0]])
            let time = made[3].fix.time
            made[3].continuity?.spans = [GapSpan(.cleared, from: nil, until: time)]
            let second = try #require(next(in: cache, after: first.lastSequence))
            #expect(
                try BatchCodec.decode(second.batch.bytes, isCompressed: second.batch.isCompressed)
                    == Array(made[3...]))
        }
    }

    @Test func attributesTravelAndABatchHoldsNoMoreThanAPayloadMay() throws {
        try withCache { cache in
            var made: [TrackPoint] = []
            for index in 0..<600 {
                var point = try point(index)
                // Each point brings keys of its own: their number times that of the points is what a payload bounds.
                point.attributes = [
                    "k\(index)": .integer(Int64(index)), "driver": .string("Li Wei"), "fuel": .double(51.5),
                ]
                made.append(point)
                append(PointRecord.encode(point), to: cache)
            }
            var (position, found): (UInt64, [TrackPoint]) = (0, [])
            while let upload = next(in: cache, after: position) {
                found += try BatchCodec.decode(
                    upload.batch.bytes, isCompressed: upload.batch.isCompressed, maximumCount: 1000)
                #expect(upload.lastSequence == upload.firstSequence + UInt64(upload.batch.count) - 1)
                position = upload.lastSequence
            }
            #expect(found == made)
            #expect(position == 600)
        }
    }

    @Test func aDiskThatDoesNotAnswerIsNoEmptyCache() throws {
        let disk = DiskSimulation(directories: ["/var"])
        let cache = try DiskRing(directory: "/var/cache", fileSystem: disk, now: 0)
        append(PointRecord.encode(try point(1)), to: cache)
        disk.faults = [DiskFault([.open, .read], times: 1, number: 5)]
        guard case .postponed = read(cache, after: 0) else {
            Issue.record("an unreadable segment was taken for an empty cache")
            return
        }
        guard case .postponed = read(cache, after: 0) else {
            Issue.record("until the next try nothing is known")
            return
        }
    }

    @Test func aRecordThatIsNoPointIsPassedOverAndCounted() throws {
        try withCache { cache in
            append([0xFF, 1, 2], to: cache)
            append(PointRecord.encode(try point(1)), to: cache)
            append([0xFF], to: cache)
            append(PointRecord.encode(try point(3)), to: cache)
            let first = try #require(next(in: cache, after: 0))
            #expect(first.undecodable == 1)
            #expect(first.batch.count == 1)
            let second = try #require(next(in: cache, after: first.lastSequence))
            #expect(second.undecodable == 1)
            #expect(second.firstSequence == first.firstSequence + 2)
            #expect(next(in: cache, after: second.lastSequence) == nil)
        }
    }
}
