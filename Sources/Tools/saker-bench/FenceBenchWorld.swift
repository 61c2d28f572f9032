import ArgumentParser
import DriveSimulation
import FenceFiles
import Foundation
import Geodesy
import Geofencing
import TrackFiles
import TrackModel

/// A made-up service: fences, and vehicles that drive where the fences are. The same seed gives the same world.
struct FenceBenchWorld {
    enum Spread: String, CaseIterable {
        /// Even, in a square of four degrees.
        case even = "f1"
        /// Around 200 centres in the same square.
        case clustered = "f2"
        /// All around one centre, and larger: some 12 fences around each point.
        case city = "f3"
        /// As ``clustered``, corridors along drives of 100 points, 50 m to each side.
        case corridors = "f4"
        /// The fences of a file; places are even in the boxes of its fences.
        case file = "f5"
        /// As ``clustered``, circles.
        case circles = "f6"
    }

    private(set) var plans: [FencePlan] = []
    private let spread: Spread
    private var random: SeededGenerator
    private var centres: [Degrees] = []

    /// Degrees, the side of the square; its middle is at 40.0, 116.0.
    private static let side = 4.0

    init(_ spread: Spread, seed: UInt64) {
        self.spread = spread
        random = SeededGenerator(seed: seed)
        centres = (0..<200).map { _ in evenPlace() }
    }

    mutating func make(_ fences: Int) throws {
        plans.reserveCapacity(fences)
        for id in 0..<fences { plans.append(FencePlan(id: Int32(id + 1), shape: try shape())) }
    }

    mutating func take(_ shapes: [Shape]) {
        plans = shapes.enumerated().map { FencePlan(id: Int32($0.offset + 1), shape: $0.element) }
    }

    /// A vehicle's way: a point every 5 s and every `stride` metres, in a direction that changes a little.
    mutating func drive(points: Int, stride: Double, from start: Timestamp) -> [FencePoint] {
        var place = somewhere()
        var heading = Double.random(in: 0..<360, using: &random)
        return (0..<points).map { index in
            place = GreatCircle.destination(from: place, bearing: heading, distance: stride)
            heading += 0.2 * normal() * 180 / .pi
            return FencePoint(
                time: start.adding(milliseconds: Int64(index) * 5000), place: Self.coordinate(place), accuracy: 50,
                speed: Int32(stride / 5 * 100))
        }
    }

    /// A vehicle that stands, with a point every 5 s.
    mutating func parked(points: Int, from start: Timestamp) -> [FencePoint] {
        let place = somewhere()
        return (0..<points).map { index in
            let seen = GreatCircle.destination(
                from: place, bearing: Double.random(in: 0..<360, using: &random), distance: abs(4 * normal()))
            return FencePoint(
                time: start.adding(milliseconds: Int64(index) * 5000), place: Self.coordinate(seen), accuracy: 50,
                speed: 0)
        }
    }

    /// Another shape of the spread.
    mutating func shape() throws -> Shape {
        switch spread {
        case .even, .clustered, .city: return try star()
        case .circles:
            return try ShapeDraft(.circle(centre: somewhere(), radius: radius())).shape()
        case .corridors:
            let line = drive(points: 100, stride: 75, from: Timestamp(seconds: 0)).map { point in
                Degrees(latitude: point.place.latitude, longitude: point.place.longitude)
            }
            return try ShapeDraft(.corridor(line, offset: 50)).shape()
        case .file: throw ValidationError("f5 has the fences of a file: give --file")
        }
    }

    /// Half of the radii are below the geometric mean of their range.
    private mutating func radius() -> Double {
        50 * pow((spread == .city ? 2000.0 : 500) / 50, Double.random(in: 0...1, using: &random))
    }

    /// A star of 32 vertices at 0.6 to 1.0 of its radius.
    private mutating func star() throws -> Shape {
        let middle = somewhere()
        let radius = radius()
        let ring = (0..<32).map { index in
            GreatCircle.destination(
                from: middle, bearing: Double(index) * 360 / 32,
                distance: radius * Double.random(in: 0.6...1, using: &random))
        }
        return try ShapeDraft(.polygon([[ring]])).shape()
    }

    /// A place of the distribution of the fences.
    mutating func somewhere() -> Degrees {
        switch spread {
        case .even: evenPlace()
        case .file: placeInABox()
        case .clustered, .circles, .corridors:
            near(centres[Int.random(in: centres.indices, using: &random)], 0.045, 0.06)
        case .city: near(Degrees(latitude: 40, longitude: 116), 0.25, 0.3)
        }
    }

    private mutating func placeInABox() -> Degrees {
        guard case .polygon(let polygon, _)? = plans.randomElement(using: &random)?.shape.body,
            let east = polygon.vertices.map(\.x).max(), let north = polygon.vertices.map(\.y).max()
        else { return evenPlace() }
        let y = Double(north) * Double.random(in: 0...1, using: &random)
        let x = Double(east) * Double.random(in: 0...1, using: &random)
        return Degrees(
            latitude: (Double(polygon.frame.southE7) + y) / 1e7, longitude: (Double(polygon.frame.westE7) + x) / 1e7)
    }

    private mutating func evenPlace() -> Degrees {
        let reach = -Self.side / 2...Self.side / 2
        return Degrees(
            latitude: 40 + Double.random(in: reach, using: &random),
            longitude: 116 + Double.random(in: reach, using: &random))
    }

    private mutating func near(_ place: Degrees, _ north: Double, _ east: Double) -> Degrees {
        Degrees(latitude: place.latitude + normal() * north, longitude: place.longitude + normal() * east)
    }

    /// The normal distribution, by Box and Muller.
    private mutating func normal() -> Double {
        let size = (-2 * log(1 - Double.random(in: 0..<1, using: &random))).squareRoot()
        return size * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }

    static func coordinate(_ place: Degrees) -> Coordinate {
        guard let place = Coordinate(latitude: place.latitude, longitude: place.longitude) else {
            preconditionFailure("the made-up world lies around 40.0, 116.0")
        }
        return place
    }
}

/// Where the points are that a bench judges.
enum FencePattern: String, CaseIterable {
    /// Single places of the distribution of the fences: no drive, so nothing is remembered.
    case places = "p1"
    /// Drives in steps of 75 m; a point of each vehicle in turn.
    case byTime = "p2"
    /// The same drives, vehicle by vehicle in batches.
    case byVehicle = "p3"
    /// As ``byVehicle``, in steps of 15 m.
    case slow = "p4"
    /// Parked, with a jitter of 4 m.
    case parked = "p5"
    /// A recorded drive.
    case recorded = "p6"

    struct Run {
        let batch: Int
        let tracks: [[FencePoint]]
    }

    private static let start = Timestamp(seconds: 1_795_000_000)

    /// Empty when there is no recorded drive and it is asked for.
    func runs(in world: inout FenceBenchWorld, _ recorded: [FencePoint]) -> [Run] {
        func drives(_ count: Int, _ points: Int, _ make: (inout FenceBenchWorld, Int) -> [FencePoint]) -> [[FencePoint]]
        {
            (0..<count).map { _ in make(&world, points) }
        }
        func stepping(_ stride: Double) -> (inout FenceBenchWorld, Int) -> [FencePoint] {
            { $0.drive(points: $1, stride: stride, from: Self.start) }
        }
        func batches(_ make: (inout FenceBenchWorld, Int) -> [FencePoint]) -> [Run] {
            [Run(batch: 6, tracks: drives(2000, 96, make)), Run(batch: 1000, tracks: drives(100, 1000, make))]
        }
        switch self {
        case .places: return [Run(batch: 1, tracks: drives(192_000, 1, stepping(75)))]
        case .byTime: return [Run(batch: 1, tracks: drives(10_000, 100, stepping(75)))]
        case .byVehicle: return batches(stepping(75))
        case .slow: return batches(stepping(15))
        case .parked: return batches { $0.parked(points: $1, from: Self.start) }
        case .recorded:
            guard !recorded.isEmpty else { return [] }
            return [6, 1000].map { Run(batch: $0, tracks: Array(repeating: recorded, count: 100)) }
        }
    }
}

/// Real fences and real drives for the benches of fences.
enum RecordedFenceFile {
    /// The polygons of a GeoJSON file or a GeoPackage. What is no fence is passed over and counted on standard error.
    static func shapes(_ path: String) throws -> [Shape] {
        var features = try FileFeatures(ByteSource(path: path))
        var (shapes, refused) = ([Shape](), 0)
        while let feature = try features.next() {
            guard case .feature(let feature) = feature else {
                refused += 1
                continue
            }
            for case .polygon(let parts) in feature.geometry.parts {
                do throws(ShapeError) {
                    shapes.append(try ShapeDraft(.polygon(parts)).shape())
                } catch {
                    refused += 1
                }
            }
        }
        if refused > 0 {
            FileHandle.standardError.write(Data("saker-bench: \(path): \(refused) features are no fences\n".utf8))
        }
        guard !shapes.isEmpty else { throw ValidationError("\(path) has no polygon") }
        return shapes
    }

    /// The places of a GPX file or of a PLT file (Geolife), 5 s apart.
    static func drive(_ path: String) throws -> [FencePoint] {
        let places: [Coordinate]
        if path.hasSuffix(".plt") {
            places = try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isNewline).dropFirst(6)
                .compactMap { line in
                    let fields = line.split(separator: ",").prefix(2).compactMap { Double($0) }
                    return fields.count == 2 ? Coordinate(latitude: fields[0], longitude: fields[1]) : nil
                }
        } else {
            places = try RealTrack.gpx(path).map(\.fix.coordinate)
        }
        guard !places.isEmpty else { throw ValidationError("\(path) has no place") }
        let start = Timestamp(seconds: 1_795_000_000)
        return places.enumerated().map { index, place in
            FencePoint(time: start.adding(milliseconds: Int64(index) * 5000), place: place, accuracy: 50)
        }
    }
}
