import Testing
import TrackModel
import TrackStore
import TrackTestKit

/// Packed points are the same points.
@Suite struct StoredPointsTests {
    private static func number(_ random: inout SplitMix) -> Int32? {
        let edge: [Int32?] = [nil, nil, .min, .max, 0, -1, .random(in: .min ... .max, using: &random)]
        return edge.randomElement(using: &random) ?? nil
    }

    private static func continuity(_ random: inout SplitMix) -> Continuity? {
        guard Bool.random(using: &random) else { return nil }
        var continuity = Continuity(interval: .random(in: Continuity.intervals, using: &random))
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            continuity.spans.append(
                GapSpan(.noFix, from: nil, until: Timestamp(milliseconds: .random(in: 0...99, using: &random))))
        }
        // No agent says so. But it must come back.
        if Int.random(in: 0..<8, using: &random) == 0 { continuity.interval = Bool.random(using: &random) ? -5 : .max }
        return continuity
    }

    private static func stored(_ random: inout SplitMix) throws -> StoredPoint {
        let place = Coordinate(
            latitudeE7: .random(in: -900_000_000...900_000_000, using: &random),
            longitudeE7: .random(in: -1_800_000_000...1_800_000_000, using: &random))
        var fix = Fix(
            time: Timestamp(milliseconds: .random(in: .min ... .max, using: &random)), coordinate: try #require(place),
            speed: number(&random), course: number(&random), altitude: number(&random), accuracy: number(&random))
        fix.mode = (FixMode.allCases + [nil]).randomElement(using: &random) ?? nil
        fix.status = (FixStatus.allCases + [nil]).randomElement(using: &random) ?? nil
        fix.satellites = ([nil, 0, 255] as [UInt8?]).randomElement(using: &random) ?? nil
        var point = TrackPoint(fix, isParked: Bool.random(using: &random), continuity: continuity(&random))
        point.coordinateType = try #require(CoordinateType.allCases.randomElement(using: &random))
        if Int.random(in: 0..<4, using: &random) == 0 { point.objectName = "trailer" }
        if Int.random(in: 0..<4, using: &random) == 0 {
            point.attributes = ["fuel": .double(0.5), "door": .string("")]
        }
        return StoredPoint(point, received: Timestamp(milliseconds: .random(in: .min ... .max, using: &random)))
    }

    @Test func everyFieldComesBack() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("stored points seed \(seed)")
        var random = SplitMix(state: seed)
        let points = try (0..<2000).map { _ in try Self.stored(&random) }
        let packed = StoredPoints(points)
        #expect(Array(packed) == points, "seed \(seed)")
        #expect(packed == StoredPoints(Array(packed)))
        var other = points
        other[1999].point.isParked.toggle()
        #expect(packed != StoredPoints(other))
        for (index, stored) in points.enumerated() {
            let (point, all) = (stored.point, packed.points)
            #expect(all.time(at: index) == point.fix.time && all.fix(at: index) == point.fix, "seed \(seed)")
            #expect(
                all.type(at: index) == point.coordinateType && all.isParked(at: index) == point.isParked,
                "seed \(seed)")
        }
    }

    @Test func aPlainPointIsSmall() throws {
        let place = try #require(Coordinate(latitude: 52, longitude: 4))
        let points = (0..<Int64(1000)).map { second in
            let fix = Fix(time: .at(second), coordinate: place, speed: 1000, mode: .threeDimensional)
            return StoredPoint(TrackPoint(fix, continuity: Continuity(interval: 5)), received: .at(0))
        }
        #expect(StoredPoints(points).bytes == 56 * 1000)
    }
}

@Suite struct StreamFitTests {
    private func position(
        _ sequences: ClosedRange<UInt64>, after previous: UInt64, epoch: Int64 = 7
    ) -> StreamPosition {
        StreamPosition(
            stream: StreamID(high: 1, low: 2), epoch: epoch, previous: previous, first: sequences.lowerBound,
            count: UInt32(sequences.count))
    }

    @Test func theLastSequenceOfABatchCountsTheRefusedPoints() {
        #expect(position(41...43, after: 40).last == 43)
    }

    @Test func aBatchIsStoredFromWhereTheStoreStands() {
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 10) == .next(after: 10))
        // After a gap, over an overlap, and over what an attempt whose answer was lost stored of it.
        #expect(StreamFit(position(15...20, after: 10), epoch: 7, storedThrough: 10) == .next(after: 10))
        #expect(StreamFit(position(5...20, after: 10), epoch: 7, storedThrough: 10) == .next(after: 10))
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 15) == .next(after: 15))
    }

    @Test func whatIsStoredIsADuplicate() {
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 20) == .stored(through: 20))
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 30) == .stored(through: 30))
        #expect(StreamFit(position(3...5, after: 10), epoch: 7, storedThrough: 10) == .stored(through: 10))
    }

    @Test func anotherEpochIsReplacedWhateverIsStored() {
        for stored in [0, 10, 15, 20, 30] as [UInt64] {
            #expect(StreamFit(position(11...20, after: 10), epoch: 8, storedThrough: stored) == .replaced)
            #expect(StreamFit(position(11...20, after: 10), epoch: 6, storedThrough: stored) == .replaced)
        }
    }

    @Test func lessThanTheSessionBelievesIsALoss() {
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 9) == .rewound(through: 9))
        #expect(StreamFit(position(3...5, after: 10), epoch: 7, storedThrough: 9) == .rewound(through: 9))
    }
}

@Suite struct TrackStoreErrorTests {
    @Test func aRetryHelpsAFullABusyAndAnOrderlyStore() {
        let codes: [TrackStoreError.Code] = [
            .unknownService, .entityExists, .unknownEntity, .tooManyPoints, .tooManyNames, .newerSchema, .full, .busy,
            .outOfTurn, .missing, .corrupt, .closed, .failed,
        ]
        #expect(codes.filter { TrackStoreError($0, "").isRetriable } == [.full, .busy, .outOfTurn])
    }

    @Test func errorsAreEqualWhenTheirCodesAre() {
        #expect(TrackStoreError(.full, "one") == TrackStoreError(.full, "other"))
        #expect(TrackStoreError(.full, "one") != TrackStoreError(.busy, "one"))
    }
}
