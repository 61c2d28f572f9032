import Testing
import TrackModel

@testable import TrackWire

/// The example of docs/formats/batch-payload.md, byte for byte.
@Suite struct BatchExampleTests {
    static let hex = """
        01b54630b8a0008fa05ad597ab54f18713c30783912a5164b7b6f25b4eead720eba4829c5360846ec801046675656c
        """

    @Test func theDocumentedExampleIsWhatTheCodecWrites() throws {
        let points = try Self.points()
        let bytes = BatchEncoder.encode(points)
        #expect(bytes.map { hexadecimal($0) }.joined() == Self.hex.filter { !$0.isWhitespace })
        #expect(try BatchCodec.decode(bytes, isCompressed: false) == points)
    }

    static func points() throws -> [TrackPoint] {
        let places = try
            ([(519_954_543, 43_705_501), (519_955_846, 43_705_198), (519_957_024, 43_704_727)] as [(Int32, Int32)]).map
        {
            try #require(Coordinate(latitudeE7: $0, longitudeE7: $1))
        }
        var points = zip(places, [(1205, 3388), (1199, 3386), (1220, 3388)]).enumerated().map { row, pair in
            TrackPoint(
                Fix(
                    time: Timestamp(milliseconds: 1_800_000_000_000 + Int64(row) * 1000), coordinate: pair.0,
                    speed: Int32(pair.1.0), course: Int32(pair.1.1), altitude: 195, mode: .threeDimensional,
                    satellites: 9))
        }
        points[1].attributes = ["fuel": .double(53.5)]
        points[2].attributes = ["fuel": .double(53.4)]
        return points
    }

    private func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
