internal import Geodesy
internal import Geofencing
internal import Glibc
internal import TrackTestKit

// Areas that the vehicle's route crosses: every kind of shape that a fence may have.
extension FenceDraft {
    /// Metres north and east of the route's centre.
    typealias Spot = (north: Double, east: Double)

    func shape(_ dice: inout DiskDice) -> ShapeDraft {
        let size = Double.random(in: 25...(dice.one(in: 3) ? 400 : 120), using: &dice)
        var middle = spot(&dice)
        if dice.one(in: 2) {
            // The edge goes through the place where the vehicle may park.
            let angle = Double.random(in: 0...6.28, using: &dice)
            middle = (route.target.north + size * cos(angle), route.target.east + size * sin(angle))
        }
        var draft: ShapeDraft
        switch Int.random(in: 0..<10, using: &dice) {
        case 0, 1: draft = ShapeDraft(.polygon([[ring(Self.notched, around: middle, size)]]))
        case 2: draft = ShapeDraft(.polygon([holed(around: middle, max(size, 60))]))
        case 3: draft = ShapeDraft(.polygon(parts(around: middle, size)))
        case 4, 5: draft = corridor(&dice)
        case 6: draft = ShapeDraft(.point(place(middle)), buffer: size)
        default: draft = ShapeDraft(.circle(centre: place(middle), radius: size))
        }
        if dice.one(in: 5) { draft.buffer += Double(Int.random(in: 5...60, using: &dice)) }
        return draft
    }

    /// Around the same place, so that the vehicle may be inside before and after; nil for a polygon without a buffer.
    func resized(_ draft: ShapeDraft, _ dice: inout DiskDice) -> ShapeDraft? {
        let factor = Double.random(in: 0.5...2, using: &dice)
        var changed = draft
        switch draft.outline {
        case .circle(let centre, let radius): changed.outline = .circle(centre: centre, radius: radius * factor)
        case .corridor(let line, let offset): changed.outline = .corridor(line, offset: offset * factor)
        case .point, .polygon:
            guard draft.buffer > 0 else { return nil }
            changed.buffer = draft.buffer * factor
        }
        return changed
    }

    // MARK: Outlines

    private static let notched: [Spot] = [(-1, -1), (-0.8, 1.2), (1, 0.9), (0.2, 0.1), (1.1, -1)]
    private static let shell: [Spot] = [(-1, -1), (-1.1, 1), (1, 1.2), (0.9, -1)]
    private static let hole: [Spot] = [(-0.5, -0.6), (0.4, -0.5), (0.5, 0.6), (-0.6, 0.5)]
    private static let wedge: [Spot] = [(-1, -0.8), (0.9, 0), (-1, 0.8)]

    private func holed(around middle: Spot, _ size: Double) -> [[Degrees]] {
        [ring(Self.shell, around: middle, size), ring(Self.hole, around: middle, size)]
    }

    /// Two parts with a street between them, of which one has a hole.
    private func parts(around middle: Spot, _ size: Double) -> [[[Degrees]]] {
        [
            holed(around: middle, size),
            [ring(Self.wedge, around: (middle.north, middle.east + 2.2 * size), size)],
        ]
    }

    /// Along a way of the vehicle now and then.
    private func corridor(_ dice: inout DiskDice) -> ShapeDraft {
        var line = [dice.one(in: 3) ? route.target : spot(&dice)]
        for _ in 0..<Int.random(in: 1...4, using: &dice) { line.append(spot(&dice)) }
        return ShapeDraft(.corridor(line.map(place), offset: Double(Int.random(in: 15...80, using: &dice))))
    }

    private func ring(_ corners: [Spot], around middle: Spot, _ size: Double) -> [Degrees] {
        corners.map { place((middle.north + $0.north * size, middle.east + $0.east * size)) }
    }

    private func spot(_ dice: inout DiskDice) -> Spot {
        (
            Double.random(in: -FencedRoute.reach...FencedRoute.reach, using: &dice),
            Double.random(in: -FencedRoute.reach...FencedRoute.reach, using: &dice)
        )
    }

    private func place(_ spot: Spot) -> Degrees { route.degrees(north: spot.north, east: spot.east) }
}
