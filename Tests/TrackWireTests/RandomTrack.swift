import ProgramTestKit
import TrackModel

enum RandomTrack {
    /// Points of every kind: drives, jumps, gaps in any column, times that go back, all attribute types.
    static func wild(count: Int, using random: inout Dice) -> [TrackPoint] {
        let presence: [Double] = (0..<9).map { _ in [0, 0.02, 0.5, 0.98, 1].randomElement(using: &random) ?? 1 }
        let parked: Double = [0, 0, 0.02, 0.5, 1].randomElement(using: &random) ?? 0
        let gathered: Double = [0, 0, 0.5, 1, 1].randomElement(using: &random) ?? 0
        func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }
        let keys = (0..<Int.random(in: 0...4, using: &random)).map { "key\($0)" }
        let isSmooth = Bool.random(using: &random)
        var time = Int64.random(in: 0...4_000_000_000_000, using: &random)
        var (latitude, longitude) = (
            Int32.random(in: -900_000_000...900_000_000, using: &random), Int32(179_000_000 * 10)
        )
        return (0..<count).compactMap { _ -> TrackPoint? in
            time =
                chance(0.02)
                ? Int64.random(in: .min ... .max, using: &random)
                : time &+ (isSmooth ? 1000 : Int64.random(in: -10...90_000, using: &random))
            latitude =
                isSmooth && chance(0.99)
                ? min(max(latitude &+ Int32.random(in: -5000...5000, using: &random), -900_000_000), 900_000_000)
                : Int32.random(in: -900_000_000...900_000_000, using: &random)
            longitude =
                isSmooth && chance(0.99)
                ? min(max(longitude &+ Int32.random(in: -5000...5000, using: &random), -1_800_000_000), 1_800_000_000)
                : Int32.random(in: -1_800_000_000...1_800_000_000, using: &random)
            guard let coordinate = Coordinate(latitudeE7: latitude, longitudeE7: longitude) else { return nil }
            let fix = Fix(
                time: Timestamp(milliseconds: time), coordinate: coordinate,
                speed: chance(presence[0]) ? Int32.random(in: 0...4000, using: &random) : nil,
                course: chance(presence[1]) ? Int32.random(in: 0...(isSmooth ? 3599 : 3601), using: &random) : nil,
                altitude: chance(presence[2]) ? Int32.random(in: -500...90_000, using: &random) : nil,
                accuracy: chance(presence[3]) ? Int32.random(in: 0...(isSmooth ? 1 : 10_000), using: &random) : nil,
                mode: chance(presence[4]) ? FixMode.allCases.randomElement(using: &random) : nil,
                status: chance(presence[5])
                    ? (chance(0.99) ? .plain : FixStatus.allCases.randomElement(using: &random)) : nil,
                satellites: chance(presence[6]) ? UInt8.random(in: 0...(isSmooth ? 12 : 255), using: &random) : nil)
            var point = TrackPoint(fix, coordinateType: chance(0.95) ? .wgs84 : .bd09ll)
            if chance(1 - presence[7]) { point.objectName = "object \(Int.random(in: 0...3, using: &random))" }
            point.isParked = chance(parked)
            point.fix.isClockTime = chance(parked)
            if chance(gathered) { point.continuity = continuity(before: time, isCalm: isSmooth, using: &random) }
            for key in keys where chance(presence[8]) { point.attributes[key] = value(using: &random) }
            return point
        }
    }

    private static func continuity(before time: Int64, isCalm: Bool, using random: inout Dice) -> Continuity {
        let count =
            Int.random(in: 0..<20, using: &random) > (isCalm ? 18 : 9) ? Int.random(in: 1...8, using: &random) : 0
        let spans = (0..<count).map { _ in
            let until = time &- Int64.random(in: -1000...4_000_000, using: &random)
            let length = Int64.random(in: 0...1_000_000_000, using: &random)
            return GapSpan(
                GapReason(rawValue: UInt8.random(in: 1...255, using: &random)),
                from: Bool.random(using: &random) && until > .min + length
                    ? Timestamp(milliseconds: until - length) : nil,
                until: Timestamp(milliseconds: until),
                lostPoints: Bool.random(using: &random) ? Int64.random(in: 0...100_000, using: &random) : nil)
        }
        return Continuity(interval: isCalm ? 5 : Int32.random(in: 1...86_400, using: &random), spans: spans)
    }

    private static func value(using random: inout Dice) -> AttributeValue {
        switch Int.random(in: 0...4, using: &random) {
        case 0: .integer(Int64.random(in: .min ... .max, using: &random))
        case 1: .integer(Int64.random(in: 0...100, using: &random))
        case 2: .double(Double(Int.random(in: -1000...1000, using: &random)) / 10)
        case 3: .double(Double.random(in: -1...1, using: &random))
        default: .string(["", "on", "off", "京A·12345"].randomElement(using: &random) ?? "")
        }
    }
}
