import FenceJSON
import Geodesy
import Geofencing
import Glibc
import Testing
import TrackModel
import TrackTestKit

@testable import SystemSimulation

/// The fences of histories: the vehicle takes each of them, and the checker knows the area of each.
@Suite struct FenceDraftTests {
    private static let time: Int64 = 1_800_000_000_000

    private static func definitions(_ count: Int) -> [(definition: FenceDefinition, route: FencedRoute)] {
        var dice = DiskDice(seed: 4711)
        return (0..<count).map { _ in
            let route = FencedRoute(seed: dice.next())
            let draft = FenceDraft(around: route, at: time)
            var definition = draft.definition(&dice, isLocal: true, among: ["bus", "tram", "van"])
            if dice.one(in: 2) { definition = draft.edited(definition, &dice, among: ["bus", "tram", "van"]) }
            return (definition, route)
        }
    }

    @Test func eachIsAFenceAndComesBackFromJSON() throws {
        for (definition, _) in Self.definitions(400) {
            let fence = try Fence(id: 1, definition, at: Timestamp(milliseconds: Self.time))
            _ = try fence.plan(from: Timestamp(milliseconds: Self.time))
            #expect(try FenceDefinition(json: definition.json) == definition)
        }
    }

    @Test func everyKindIsAmongThem() {
        var kinds: Set<String> = []
        for (definition, _) in Self.definitions(400) {
            switch definition.shape.outline {
            case .circle: kinds.insert("circle")
            case .point: kinds.insert("point")
            case .corridor: kinds.insert("corridor")
            case .polygon(let parts):
                kinds.insert(parts.count > 1 ? "parts" : parts[0].count > 1 ? "hole" : "polygon")
                if definition.shape.buffer > 0 { kinds.insert("polygon with buffer") }
            }
            if definition.altitude != nil { kinds.insert("altitude") }
            if let validity = definition.validity { kinds.insert(validity.windows.isEmpty ? "dates" : "windows") }
            if definition.rule == [.stay] { kinds.insert("stay alone") }
            if definition.speedLimit != nil { kinds.insert("speed limit") }
        }
        #expect(
            kinds == [
                "circle", "point", "corridor", "polygon", "parts", "hole", "polygon with buffer", "altitude", "dates",
                "windows", "stay alone", "speed limit",
            ])
    }

    /// Geodesy measures the same shapes on the ellipsoid.
    @Test func theShapesHaveTheirDistances() throws {
        for (definition, route) in Self.definitions(150) {
            let (plain, shape) = (try #require(PlainShape(definition.shape)), try definition.shape.shape())
            #expect(abs(plain.width - shape.width) < 0.1)
            for north in stride(from: -700.0, through: 700, by: 97) {
                for east in stride(from: -700.0, through: 700, by: 101) {
                    let place = route.degrees(north: north, east: east)
                    let coordinate = try #require(
                        Coordinate(latitude: place.latitude, longitude: place.longitude))
                    let exact = shape.signedDistance(to: coordinate)
                    #expect(
                        abs(plain.distance(to: place) - exact) < 0.5,
                        "\(definition.shape), \(north) north, \(east) east")
                }
            }
        }
    }
}
