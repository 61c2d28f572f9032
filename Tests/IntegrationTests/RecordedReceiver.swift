import ProgramTestKit
import Testing

/// A recorded receiver and what is known of it.
struct RecordedReceiver: CustomTestStringConvertible, Sendable {
    let name: String
    /// What gpsd takes it for.
    let driver: String
    /// The time of day of its last epoch with a position, milliseconds. Its date depends on what gpsd makes of the number
    /// of its week.
    let lastTimeOfDay: Int
    /// Epochs with a time and a position. gpsd needs some of the first to know the receiver.
    let epochs: ClosedRange<Int>
    /// Points of a grid of two seconds.
    let points: ClosedRange<Int>
    /// Metres between the outermost points.
    let spread: ClosedRange<Double>
    /// Fixes that make no point for their date: ahead of all before, and back.
    var unconfirmed = 0...0
    var notLater = 0...0

    var testDescription: String { name }

    static let all = [
        // Parked for four seconds, then fixes of a day later and of an hour before, at 16 m/s.
        RecordedReceiver(
            name: "bt451.log", driver: "NMEA0183", lastTimeOfDay: 52_388_000, epochs: 11...12, points: 2...2,
            spread: 0...5, unconfirmed: 1...1, notLater: 4...4),
        // Moving; the clock of the receiver drifts by a millisecond in some seconds.
        RecordedReceiver(
            name: "haicom-305N.log", driver: "NMEA0183", lastTimeOfDay: 35_655_787, epochs: 60...70, points: 30...36,
            spread: 20...100),
        // A binary protocol; parked, and half of the time without height.
        RecordedReceiver(
            name: "ublox-glo.log", driver: "u-blox", lastTimeOfDay: 53_830_000, epochs: 285...299, points: 140...150,
            spread: 20...80),
        // Another binary protocol: a minute without height and 50 m off, then parked.
        RecordedReceiver(
            name: "sirf2.log", driver: "SiRF", lastTimeOfDay: 74_865_780, epochs: 600...615, points: 300...308,
            spread: 20...150, unconfirmed: 0...5),
        // Four epochs with the satellites of BeiDou.
        RecordedReceiver(
            name: "beidou-bd.log", driver: "NMEA0183", lastTimeOfDay: 27_719_799, epochs: 4...4, points: 2...2,
            spread: 0...20),
    ]

    /// NMEA by the sentence, a binary protocol in parts.
    func pieces() throws -> [[UInt8]] {
        let bytes = try Recordings.receiver(name)
        if bytes.first == UInt8(ascii: "$") {
            return bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) + [UInt8(ascii: "\n")] }
        }
        return stride(from: 0, to: bytes.count, by: 400).map { Array(bytes[$0..<min($0 + 400, bytes.count)]) }
    }
}
