import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

@Suite struct MergePlanTests {
    private func chunk(_ id: Int64, _ first: Int64, _ last: Int64, _ count: Int, settled: Bool = false) -> ChunkOutline
    {
        ChunkOutline(id: id, firstTime: first, lastTime: last, count: count, isSettled: settled)
    }

    private func plan(_ chunks: [ChunkOutline]) -> MergePlan {
        MergePlan(chunks.sorted { ($0.firstTime, $0.id) < ($1.firstTime, $1.id) }) { _ in true }
    }

    @Test func neighboursAreJoinedUpToTheLargestChunk() {
        let chunks = (0..<10).map { chunk(Int64($0 + 1), Int64($0) * 10, Int64($0) * 10 + 9, 1000) }
        let plan = plan(chunks)
        #expect(plan.groups.map { $0.map(\.id) } == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]])
        #expect(plan.settled == [])
    }

    @Test func whatIsSettledIsTouchedOnlyForANeighbour() {
        let settled = (0..<4).map { chunk(Int64($0 + 1), Int64($0) * 10, Int64($0) * 10 + 9, 900, settled: true) }
        #expect(plan(settled).groups == [])
        #expect(plan(settled).settled == [])
        let more = settled + [chunk(5, 40, 49, 400)]
        #expect(plan(more).groups.map { $0.map(\.id) } == [[1, 2, 3, 4, 5]])
        let large = [chunk(1, 0, 9, 4000, settled: true), chunk(2, 10, 19, 600)]
        #expect(plan(large).groups == [])
        #expect(plan(large).settled == [2])
    }

    @Test func chunksThatOverlapAreTakenTogether() {
        let chunks = [
            chunk(1, 0, 99, 4096, settled: true), chunk(2, 100, 199, 4096, settled: true), chunk(3, 90, 110, 6),
        ]
        #expect(plan(chunks).groups.map { $0.map(\.id) } == [[1, 2, 3]])
    }

    @Test func farApartChunksAreNotJoined() {
        let week = ChunkLimits.span
        #expect(plan([chunk(1, 0, 9, 6), chunk(2, week, week, 6)]).groups.count == 1)
        #expect(plan([chunk(1, 0, 9, 6), chunk(2, week, week + 1, 6)]).groups == [])
        #expect(plan([chunk(1, .min, .min, 6), chunk(2, .max, .max, 6)]).settled == [1, 2])
    }

    /// The one rule that keeps "the later upload wins" true: nothing outside a group may stand between its members.
    @Test func randomPlansNeverChangeWhichUploadIsLater() {
        let seed = UInt64.random(in: .min ... .max)
        print("plan seed \(seed)")
        var random = SplitMix(state: seed)
        for _ in 0..<2000 {
            let width = Int64.random(in: 1...2000, using: &random)
            let chunks = (0..<Int.random(in: 1...60, using: &random)).map { index in
                let first = Int64.random(in: 0..<10_000, using: &random)
                let count = [1, 6, 511, 512, 2000, 4096].randomElement(using: &random) ?? 1
                return chunk(
                    Int64(index), first, first + Int64.random(in: 0..<width, using: &random), count,
                    settled: Bool.random(using: &random))
            }.sorted { ($0.firstTime, $0.id) < ($1.firstTime, $1.id) }
            let hidden = Int64.random(in: -1...10_000, using: &random)
            let plan = MergePlan(chunks) { $0.firstTime > hidden }
            var used: Set<Int64> = []
            for group in plan.groups {
                let ids = group.map(\.id)
                #expect(ids == ids.sorted() && group.count > 1 && group.contains { !$0.isSettled })
                #expect(group.allSatisfy { $0.firstTime > hidden })
                #expect(used.isDisjoint(with: ids))
                used.formUnion(ids)
                guard let least = ids.first, let greatest = ids.last else { continue }
                let first = group.map(\.firstTime).min() ?? 0
                let last = group.map(\.lastTime).max() ?? 0
                let between = chunks.filter {
                    !ids.contains($0.id) && $0.id > least && $0.id < greatest && $0.firstTime <= last
                        && $0.lastTime >= first
                }
                #expect(between == [], "seed \(seed)")
                #expect(group.reduce(0) { $0 + $1.count } <= MergePlan.overlappingPoints)
            }
            #expect(used.isDisjoint(with: plan.settled))
        }
    }
}

@Suite struct PointMergerTests {
    /// Some of the points carry what lies apart from packed points.
    private static func point(_ seconds: Int64, mark: Int32) throws -> TrackPoint {
        let place = try #require(Coordinate(latitudeE7: 520_000_000 + mark, longitudeE7: 40_000_000))
        var point = TrackPoint(Fix(time: .at(seconds), coordinate: place))
        if mark % 3 == 0 { point.attributes = ["mark": .integer(Int64(mark))] }
        return point
    }

    private static func chunk(_ id: Int64, _ seconds: [Int64], mark: Int32) throws -> StoredChunk {
        let points = try seconds.map { try point($0, mark: mark) }
        let batch = BatchCodec.encode(points)
        return try StoredChunk(
            id: id, first: .at(try #require(seconds.min())), last: .at(try #require(seconds.max())),
            count: points.count,
            isCompressed: batch.isCompressed, received: .at(id), runs: nil, payload: batch.bytes)
    }

    /// As if there were a table by time: of equal times the later chunk wins, in a chunk the later point.
    @Test func anyChunksMergeAsATableWould() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("merger seed \(seed)")
        var random = SplitMix(state: seed)
        for round in 0..<200 {
            var merger = PointMerger()
            var table: [Int64: (chunk: Int64, point: StoredPoint)] = [:]
            let range: ClosedRange<Int64> = Bool.random(using: &random) ? 0...100 : 20...70
            let ids = (0..<Int64.random(in: 1...6, using: &random)).shuffled(using: &random)
            for (number, id) in ids.enumerated() {
                let isInOrder = Bool.random(using: &random)
                let start = isInOrder ? Int64(number) * 17 : 0
                var seconds = (0..<8).map { _ in start + Int64.random(in: 0...16, using: &random) * (isInOrder ? 1 : 6)
                }
                if isInOrder { seconds.sort() }
                let mark = Int32(id) + 1
                merger.add(try Self.chunk(id, seconds, mark: mark), in: .at(range.lowerBound) ... .at(range.upperBound))
                for second in seconds where range.contains(second) && table[second]?.chunk ?? -1 <= id {
                    table[second] = (id, StoredPoint(try Self.point(second, mark: mark), received: .at(id)))
                }
                if Bool.random(using: &random) { merger.tidy() }
            }
            let expected = table.sorted { $0.key < $1.key }.map(\.value.point)
            #expect(Array(merger.finish()) == expected, "seed \(seed), round \(round)")
        }
    }
}

@Suite struct ReceiveRunsTests {
    @Test func aStretchThatCameAtOnceNeedsNoRuns() {
        let encoded = ReceiveRuns.encode(Array(repeating: Timestamp.at(4), count: 9))
        #expect(encoded.first == .at(4))
        #expect(encoded.runs == nil)
        #expect(ReceiveRuns.decode(nil, first: .at(4), count: 2) == [.at(4), .at(4)])
    }

    @Test func evenStepsTakeTwoBytesARun() {
        // Runs of 2, 3 and 1 points, 30 s apart: 02; 03, +30000 zigzag = 60000; 01, no change.
        let times: [Timestamp] = [.at(0), .at(0), .at(30), .at(30), .at(30), .at(60)]
        let encoded = ReceiveRuns.encode(times)
        #expect(encoded.runs == [0x02, 0xE0, 0xD4, 0x03, 0x03, 0x00, 0x01])
        #expect(ReceiveRuns.decode(encoded.runs, first: encoded.first, count: 6) == times)
    }

    @Test func anyTimesComeBack() {
        let seed = UInt64.random(in: .min ... .max)
        print("receive runs seed \(seed)")
        var random = SplitMix(state: seed)
        for _ in 0..<500 {
            var times: [Timestamp] = []
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let edge: [Int64] = [.min, .max, 0, -1, .random(in: .min ... .max, using: &random)]
                let time = Timestamp(milliseconds: edge.randomElement(using: &random) ?? 0)
                times += Array(repeating: time, count: Int.random(in: 1...200, using: &random))
            }
            let encoded = ReceiveRuns.encode(times)
            #expect(ReceiveRuns.decode(encoded.runs, first: encoded.first, count: times.count) == times)
        }
    }

    @Test(
        arguments: [
            [], [0x00], [0x02], [0x04], [0x03, 0x00], [0x02, 0x80], [0x02, 0x00, 0x00], [0xFF],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x02, 0x00, 0x02],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        ] as [[UInt8]])
    func runsThatDoNotAddUpAreRefused(bytes: [UInt8]) {
        #expect(ReceiveRuns.decode(bytes, first: .at(0), count: 3) == nil)
    }
}
