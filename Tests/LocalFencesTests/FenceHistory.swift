import Geodesy
import Geofencing
import TrackModel
import TrackTestKit

/// A few fences and a drive among them, made of a seed.
struct FenceHistory {
    var definitions: [FenceDefinition] = []
    var points: [FencePoint] = []
    var dice: DiskDice

    init(seed: UInt64, points count: Int = 90) {
        dice = DiskDice(seed: seed)
        for _ in 0..<Int.random(in: 1...6, using: &dice) { definitions.append(definition()) }
        drive(count)
    }

    private mutating func definition() -> FenceDefinition {
        let centre = degrees(Double.random(in: -200...200, using: &dice), Double.random(in: -200...200, using: &dice))
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: centre, radius: Double.random(in: 20...150, using: &dice))))
        definition.watch = .everyone
        definition.isInitialTold = dice.one(in: 3)
        if dice.one(in: 2) {
            definition.rule = [.enter, .exit, .stay]
            definition.stay = StayRule(
                after: Int.random(in: 5...30, using: &dice), every: dice.one(in: 2) ? 10 : nil)
        }
        switch Int.random(in: 0..<5, using: &dice) {
        case 0: definition.settle = Int.random(in: 1...20, using: &dice)
        case 1: definition.denoise = 20
        case 2: definition.group = "yard"
        case 3: definition.speedLimit = SpeedLimit(speed: Int32.random(in: 200...1200, using: &dice), duration: 3)
        default: break
        }
        return definition
    }

    private func degrees(_ north: Double, _ east: Double) -> Degrees {
        Degrees(latitude: 40 + north / 111_000, longitude: 116 + east / 85_394)
    }

    private mutating func drive(_ count: Int) {
        var (north, east) = (
            Double.random(in: -250...250, using: &dice), Double.random(in: -250...250, using: &dice)
        )
        var (headNorth, headEast) = (Double.random(in: -1...1, using: &dice), Double.random(in: -1...1, using: &dice))
        var time: Int64 = 1_795_000_000_000
        for _ in 0..<count {
            let speed = dice.one(in: 4) ? 0.3 : Double.random(in: 2...20, using: &dice)
            let step: Int64 = dice.one(in: 40) ? 300_000 : dice.one(in: 5) ? 5000 : 1000
            time += step
            if dice.one(in: 8) {
                (headNorth, headEast) = (
                    Double.random(in: -1...1, using: &dice), Double.random(in: -1...1, using: &dice)
                )
            }
            if max(north.magnitude, east.magnitude) > 300 {
                (headNorth, headEast) = (north > 0 ? -1 : 1, east > 0 ? -1 : 1)
            }
            north += headNorth * speed * Double(min(step, 5000)) / 1000
            east += headEast * speed * Double(min(step, 5000)) / 1000
            let place = degrees(north, east)
            guard let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude) else { continue }
            points.append(
                FencePoint(
                    time: Timestamp(milliseconds: time), place: coordinate,
                    accuracy: Int32.random(in: 10...(dice.one(in: 10) ? 600 : 60), using: &dice),
                    speed: dice.one(in: 6) ? nil : Int32(speed * 100)))
        }
    }
}
