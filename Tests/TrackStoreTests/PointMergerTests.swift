import Testing
import TrackModel
import TrackStore
import TrackTestKit
import TrackWire

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
