import ProgramTestKit
import Testing
import TrackModel

@testable import TrackWire

@Suite struct BatchCodecTests {
    @Test(arguments: [1, 2, 3, 6, 30, 1000])
    func randomPointsComeBackExactly(count: Int) throws {
        for seed in Dice.seeds(30) {
            var random = Dice(seed: seed)
            let points = RandomTrack.wild(count: count, using: &random)
            let batch = BatchCodec.encode(points)
            #expect(batch.count == count)
            let decoded = try BatchCodec.decode(batch.bytes, isCompressed: batch.isCompressed)
            #expect(decoded == points, "seed \(seed), count \(count)")
            let packed = try BatchCodec.decodePacked(batch.bytes, isCompressed: batch.isCompressed)
            #expect((0..<packed.count).map { packed[$0] } == points, "packed, seed \(seed), count \(count)")
        }
    }

    @Test func onlyParkedPointsNeedFormatTwo() throws {
        var points = try BatchExampleTests.points()
        let before = BatchEncoder.encode(points)
        #expect(before[0] == 1)
        points[1].isParked = true
        let bytes = BatchEncoder.encode(points)
        #expect(bytes[0] == 2)
        #expect(try BatchCodec.decode(bytes, isCompressed: false) == points)
        // For a reader of format 1 the flag is left out and nothing else.
        #expect(BatchEncoder.encode(points, format: 1) == before)
        #expect(PointRecord.encode(points[1], format: 1)[0] == 1)
        #expect(try PointRecord.decode(PointRecord.encode(points[1])) == points[1])
        #expect(PointRecord.encode(points[1]).count <= PointRecord.encode(points[1], format: 1).count + 1)
        // A reader of format 1 alone knows that it does not understand.
        var newer = bytes
        newer[0] = UInt8(WireLimits.payloadFormat + 1)
        #expect(throws: WireError(.unsupportedVersion, "")) { try BatchCodec.decode(newer, isCompressed: false) }
    }

    @Test func whatAgentsSayOfTheTimeBeforeNeedsFormatThree() throws {
        var points = try BatchExampleTests.points()
        let before = BatchEncoder.encode(points)
        for row in points.indices { points[row].continuity = Continuity(interval: 5) }
        let plain = BatchEncoder.encode(points)
        #expect(plain[0] == 3 && plain.count <= before.count + 2)
        let time = points[1].fix.time
        points[1].continuity?.spans = [
            GapSpan(.noFix, from: nil, until: time.adding(milliseconds: -60_000)),
            GapSpan(.cacheFull, from: time.adding(milliseconds: -60_000), until: time, lostPoints: 12),
        ]
        points[2].continuity = nil
        let bytes = BatchEncoder.encode(points)
        #expect(try BatchCodec.decode(bytes, isCompressed: false) == points)
        // For a reader of format 2 it is left out and nothing else.
        #expect(BatchEncoder.encode(points, format: 2) == before && BatchEncoder.encode(points, format: 1) == before)
        #expect(try PointRecord.decode(PointRecord.encode(points[1])) == points[1])
    }

    @Test func onlyTheTimeOfAClockNeedsFormatFour() throws {
        var points = try BatchExampleTests.points()
        let before = BatchEncoder.encode(points)
        points[1].fix.isClockTime = true
        let bytes = BatchEncoder.encode(points)
        #expect(bytes[0] == 4 && bytes.count <= before.count + 3)
        #expect(try BatchCodec.decode(bytes, isCompressed: false) == points)
        // For a reader of an older format it is left out and nothing else.
        for format in 1...3 { #expect(BatchEncoder.encode(points, format: format) == before) }
        #expect(try PointRecord.decode(PointRecord.encode(points[1])) == points[1])
    }

    /// These bytes were made from the page of the format alone, without the code of this package.
    @Test func aPayloadOfFormatThreeIsReadAsItsPageSays() throws {
        let bytes: [UInt8] = [
            0x03, 0xA5, 0x46, 0x30, 0xB8, 0xA0, 0x00, 0x03, 0x76, 0xE8, 0x00, 0x00, 0x4A, 0x94, 0x59, 0x2D, 0xED, 0xBC,
            0x96, 0xD3, 0xA0, 0x8A, 0x60, 0xBA, 0x70, 0xA4, 0x29, 0x14, 0x55, 0x09, 0x40, 0x00, 0x49, 0x3E, 0x84, 0x02,
            0x4B, 0xEF, 0xD4, 0x85, 0x13, 0xE0, 0x00,
        ]
        let points = try BatchCodec.decode(bytes, isCompressed: false)
        let (start, end) = (Timestamp(milliseconds: 1_800_000_000_000), Timestamp(milliseconds: 1_800_000_900_000))
        try #require(points.map(\.fix.time) == [start, end])
        #expect(points[1].fix.coordinate == Coordinate(latitudeE7: 519_955_743, longitudeE7: 43_705_161))
        #expect(points[0].continuity == Continuity(interval: 5))
        let middle = start.adding(milliseconds: 600_000)
        #expect(
            points[1].continuity
                == Continuity(
                    interval: 5,
                    spans: [
                        GapSpan(.offByPowerCut, from: nil, until: middle), GapSpan(.noFix, from: middle, until: end),
                    ]))
    }

    /// Against the budgets of a point: 17,280 gathered points a day, forty of them behind a tunnel, two behind a start.
    @Test func aDayOfGapsCostsLittle() throws {
        let place = try #require(Coordinate(latitudeE7: 519_954_543, longitudeE7: 43_705_501))
        var time: Int64 = 1_800_000_000_000
        let plain = (0..<17_280).map { row in
            time += row % 432 == 431 ? 65_000 : row % 8640 == 8639 ? 3_600_000 : 5000
            return TrackPoint(Fix(time: Timestamp(milliseconds: time), coordinate: place, speed: 900, course: 1200))
        }
        var told = plain
        for row in told.indices {
            var spans: [GapSpan] = []
            if row % 432 == 431 {
                spans = [GapSpan(.noFix, from: told[row - 1].fix.time, until: told[row].fix.time)]
            } else if row % 8640 == 8639 {
                spans = [GapSpan(.offByShutdown, from: nil, until: told[row].fix.time)]
            }
            told[row].continuity = Continuity(interval: 5, spans: spans)
        }
        var intervals = plain
        for row in intervals.indices { intervals[row].continuity = Continuity(interval: 5) }
        func records(_ points: [TrackPoint]) -> Int { points.reduce(0) { $0 + PointRecord.encode($1).count } }
        func batches(_ points: [TrackPoint], of size: Int) -> Int {
            stride(from: 0, to: points.count, by: size).reduce(0) {
                $0 + BatchCodec.encode(Array(points[$1..<min($1 + size, points.count)])).bytes.count
            }
        }
        let ring = (records(plain), records(intervals), records(told))
        let live = (batches(plain, of: 6), batches(intervals, of: 6), batches(told, of: 6))
        let chunks = (batches(plain, of: 1000), batches(intervals, of: 1000), batches(told, of: 1000))
        print("bytes a day: ring \(ring), live batches \(live), chunks of 1000 \(chunks)")
        #expect(ring.1 - ring.0 <= 2 * 17_280 && ring.2 - ring.1 <= 42 * 10)
        #expect(live.1 - live.0 <= 2 * 2880 && live.2 - live.1 <= 42 * 14)
        #expect(chunks.2 - chunks.0 <= 42 * 12 + 18 * 3)
    }

    @Test func gapsCostLittle() throws {
        // A vehicle that gathers every five seconds and drives through a tunnel now and then.
        let place = try #require(Coordinate(latitudeE7: 519_954_543, longitudeE7: 43_705_501))
        var time: Int64 = 1_800_000_000_000
        var points = (0..<1000).map { row in
            time += row % 50 == 49 ? 65_000 : 5000
            return TrackPoint(Fix(time: Timestamp(milliseconds: time), coordinate: place))
        }
        let before = BatchCodec.encode(points).bytes.count
        for row in points.indices {
            points[row].continuity = Continuity(
                interval: 5,
                spans: row % 50 == 49
                    ? [GapSpan(.noFix, from: points[row - 1].fix.time, until: points[row].fix.time)] : [])
        }
        #expect(BatchCodec.encode(points).bytes.count <= before + 20 * 8)
    }

    @Test func theEmptyBatchComesBack() throws {
        let batch = BatchCodec.encode([])
        #expect(batch.bytes.count == 2)
        #expect(try BatchCodec.decode(batch.bytes, isCompressed: batch.isCompressed) == [])
    }

    @Test func extremeNumbersComeBack() throws {
        let corner = try #require(Coordinate(latitudeE7: -900_000_000, longitudeE7: 1_800_000_000))
        let other = try #require(Coordinate(latitudeE7: 900_000_000, longitudeE7: -1_800_000_000))
        let times: [Int64] = [.max, .min, 0, .max, .min, -1, 1]
        let points = times.enumerated().map { index, time in
            let isEven = index.isMultiple(of: 2)
            return TrackPoint(
                Fix(
                    time: Timestamp(milliseconds: time), coordinate: isEven ? corner : other,
                    speed: isEven ? .max : .min, course: isEven ? .min : 3599, altitude: isEven ? .max : .min,
                    accuracy: isEven ? .min : .max, mode: .twoDimensional, status: .encrypted, satellites: 255),
                coordinateType: isEven ? .bd09ll : .gcj02, objectName: isEven ? "" : nil,
                attributes: [
                    "i": .integer(isEven ? .max : .min), "d": .double(isEven ? -0.0 : .greatestFiniteMagnitude),
                    "s": .string(""), "": .double(.leastNonzeroMagnitude), "inf": .double(.infinity),
                ])
        }
        let batch = BatchCodec.encode(points)
        let decoded = try BatchCodec.decode(batch.bytes, isCompressed: batch.isCompressed)
        #expect(decoded == points)
        guard case .double(let zero) = decoded[0].attributes["d"] else { return #expect(Bool(false), "no double") }
        #expect(zero.sign == .minus)
    }

    @Test func textsThatUnicodeCallsEqualKeepTheirBytes() throws {
        let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
        let points = ["caf\u{E9}", "cafe\u{301}"].map {
            TrackPoint(Fix(time: Timestamp(milliseconds: 1), coordinate: place), objectName: $0)
        }
        let batch = BatchCodec.encode(points)
        let decoded = try BatchCodec.decode(batch.bytes, isCompressed: batch.isCompressed)
        #expect(decoded.map { Array(($0.objectName ?? "").utf8) } == points.map { Array(($0.objectName ?? "").utf8) })
    }

    @Test func shortDecimalAttributesCostLittle() throws {
        let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
        let points = (0..<100).map { row in
            TrackPoint(
                Fix(time: Timestamp(milliseconds: Int64(row) * 5000), coordinate: place),
                attributes: ["fuel": .double(50 - Double(row) / 10), "door": .string(row < 50 ? "open" : "shut")])
        }
        let batch = BatchCodec.encode(points)
        #expect(try BatchCodec.decode(batch.bytes, isCompressed: batch.isCompressed) == points)
        #expect(batch.bytes.count < 150)
    }

    @Test func aPayloadThatRepeatsItselfIsCompressed() throws {
        let place = try #require(Coordinate(latitudeE7: 1, longitudeE7: 1))
        let points = (0..<30).map { row in
            TrackPoint(
                Fix(time: Timestamp(milliseconds: Int64(row)), coordinate: place),
                objectName: "the same long beginning, another end \(row)")
        }
        let batch = BatchCodec.encode(points)
        #expect(batch.isCompressed)
        #expect(try BatchCodec.decode(batch.bytes, isCompressed: true) == points)
        #expect(throws: WireError.self) { try BatchCodec.decode(batch.bytes, isCompressed: false) }
    }

    @Test func pointRecordsAreShortAndExact() throws {
        for seed in Dice.seeds(300) {
            var random = Dice(seed: seed)
            let point = RandomTrack.wild(count: 1, using: &random)[0]
            #expect(try PointRecord.decode(PointRecord.encode(point)) == point, "seed \(seed)")
        }
        let place = try #require(Coordinate(latitudeE7: 519_954_543, longitudeE7: 43_705_501))
        let full = TrackPoint(
            Fix(
                time: Timestamp(milliseconds: 1_893_456_000_123), coordinate: place, speed: 4000, course: 3388,
                altitude: 3500, accuracy: 150, mode: .threeDimensional, status: .differential, satellites: 24))
        #expect(PointRecord.encode(full).count <= 30)
        #expect(throws: WireError(.malformed, "")) { try PointRecord.decode([]) }
        #expect(throws: WireError(.malformed, "")) { try PointRecord.decode(BatchCodec.encode([]).bytes) }
        #expect(throws: WireError(.tooLarge, "")) { try PointRecord.decode(BatchEncoder.encode([full, full])) }
    }

    @Test(.needs(.recordings([Recordings.theHague]))) func liveBatchesKeepTheirBudgetOnARealDrive() throws {
        let track = try RecordedTrack.theHague()
        let live = resampled(track, seconds: 5)
        let size = try bytesAPoint(live, batch: 6)
        print("live, six points at 5 s: \(size) bytes of payload a point over \(live.count) points")
        #expect(size <= 12)
        print("point record: \(live.map { PointRecord.encode($0).count }.max() ?? 0) bytes at most")
        #expect(live.allSatisfy { PointRecord.encode($0).count <= 45 })
    }

    @Test(.needs(.recordings([Recordings.theHague]))) func backlogBatchesKeepTheirBudgetOnARealDrive() throws {
        let track = try RecordedTrack.theHague()
        let size = try bytesAPoint(track, batch: 1000)
        print("backlog, 1,000 points at 1 s: \(size) bytes of payload a point over \(track.count) points")
        #expect(size <= 7)
        let slow = resampled(track, seconds: 5)
        print("backlog, at 5 s: \(try bytesAPoint(slow, batch: slow.count)) bytes of payload a point")
    }

    /// Every `seconds`-th second of a track.
    private func resampled(_ points: [TrackPoint], seconds: Int64) -> [TrackPoint] {
        var due = Int64.min
        return points.filter { point in
            guard point.fix.time.milliseconds >= due else { return false }
            due = point.fix.time.milliseconds + seconds * 1000 - 50
            return true
        }
    }

    private func bytesAPoint(_ points: [TrackPoint], batch: Int) throws -> Double {
        var bytes = 0
        var count = 0
        for start in stride(from: 0, through: points.count - batch, by: batch) {
            let part = Array(points[start..<start + batch])
            let encoded = BatchCodec.encode(part)
            #expect(try BatchCodec.decode(encoded.bytes, isCompressed: encoded.isCompressed) == part)
            bytes += encoded.bytes.count
            count += batch
        }
        return (Double(bytes) / Double(max(count, 1)) * 100).rounded() / 100
    }
}
