import TrackModel
import TrackTestKit

/// Makes drives and stops.
struct TrackMaker {
    /// Midnight, six days before the clock of the bench.
    static let begin: Int64 = 1_772_150_400

    private(set) var points: [TrackPoint] = []
    private(set) var time = begin
    private var (east, north, course) = (0.0, 0.0, 0.0)
    private var dice: SplitMix

    init(seed: UInt64) { dice = SplitMix(state: seed) }

    mutating func chance(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &dice) }

    private mutating func put(_ speed: Double, noise: Double, moved: Double = 0) {
        let east = east + Double.random(in: -noise...noise, using: &dice) + moved
        let north = north + Double.random(in: -noise...noise, using: &dice)
        guard let place = Coordinate(latitude: 52 + north / 111_320, longitude: 4 + east / 68_500) else { return }
        points.append(
            TrackPoint(
                Fix(
                    time: Timestamp(seconds: time), coordinate: place, speed: Int32(speed * 100), accuracy: 50),
                coordinateType: .wgs84))
    }

    /// A point every so many seconds.
    mutating func drive(_ seconds: Int64, every interval: Int64 = 10) {
        let end = time + seconds
        var speed = 10.0
        while time < end {
            course += Double.random(in: -0.3...0.3, using: &dice)
            speed = min(max(speed + Double.random(in: -8...8, using: &dice), 4), 30)
            east += speed * Double(interval) * sinus(course)
            north += speed * Double(interval) * sinus(course + 1.5708)
            time += interval
            // Now and then a point where the vehicle cannot be.
            put(speed, noise: 2, moved: chance(0...199) == 0 ? 9000 : 0)
        }
    }

    private func sinus(_ angle: Double) -> Double {
        let turn = (angle / 6.283185).rounded(.down)
        let x = angle - turn * 6.283185 - 3.141593
        return -4 * x / 3.141593 * (1 - abs(x) / 3.141593)
    }

    mutating func stand(_ seconds: Int64, every interval: Int64 = 30) {
        let end = time + seconds
        while time + interval <= end {
            time += interval
            put(0, noise: 3)
        }
    }

    mutating func silence(_ seconds: Int64, moving metres: Double = 0) {
        time += seconds
        east += metres
    }

    /// Drives, stops with and without points, and silences.
    static func random(seed: UInt64, seconds: Int64) -> [TrackPoint] {
        var maker = TrackMaker(seed: seed)
        while maker.time < begin + seconds {
            switch maker.chance(0...9) {
            case 0...3: maker.drive(maker.chance(300...5400))
            case 4...5: maker.stand(maker.chance(120...1500))
            case 6: maker.stand(maker.chance(3600...25_000))
            case 7:
                maker.stand(maker.chance(30...900))
                maker.silence(maker.chance(300...30_000))
                maker.stand(maker.chance(30...900))
            case 8: maker.silence(maker.chance(60...9000), moving: Double(maker.chance(0...20_000)))
            default: maker.stand(60, every: 5)
            }
        }
        let end = Timestamp(seconds: begin + seconds)
        return maker.points.filter { $0.fix.time <= end }
    }
}
