import ArgumentParser
import Foundation
import Geodesy
import Geofencing
import TrackModel

/// Measures the judge of fences: points a second of user CPU time, a change, memory.
struct FenceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fences", abstract: "Speed and memory of fences.",
        subcommands: [Speed.self, Change.self, Memory.self])

    struct World: ParsableArguments {
        @Option(
            help: """
                f1: stars, even; f2: stars around 200 centres; f3: stars in one city; f4: corridors along drives; f5: the \
                polygons of a GeoJSON file; f6: circles where f2 has stars.
                """)
        var spread = "f2"
        @Option(help: "How many fences.") var fences = 100_000
        @Option(help: "The GeoJSON file of f5.") var file: String?
        @Option(help: "The seed of the made-up world.") var seed: UInt64 = 1

        func made() throws -> FenceBenchWorld {
            guard let spread = FenceBenchWorld.Spread(rawValue: spread) else {
                throw ValidationError("\(spread) is none of \(FenceBenchWorld.Spread.allCases.map(\.rawValue))")
            }
            var world = FenceBenchWorld(spread, seed: seed)
            if let file { try world.take(RecordedFenceFile.shapes(file)) } else { try world.make(fences) }
            return world
        }
    }

    /// Points of vehicles, in batches of several sizes.
    struct Speed: ParsableCommand {
        @OptionGroup var world: World
        @Option(
            help: "p1: places, no drives; p2, p3: 75 m steps, by time and by vehicle; p4: 15 m; p5: parked; p6: a file."
        )
        var points = "p3"
        @Option(help: "The GPX file or the PLT file of p6.") var drive: String?
        @Option(help: "A file for the fences and the points, for another program.") var export: String?

        func run() throws {
            guard let pattern = FencePattern(rawValue: points) else {
                throw ValidationError("\(points) is none of \(FencePattern.allCases.map(\.rawValue))")
            }
            var world = try world.made()
            let recorded = try drive.map(RecordedFenceFile.drive) ?? []
            let runs = pattern.runs(in: &world, recorded)
            guard let first = runs.first else { throw ValidationError("p6 needs a drive: give --drive") }
            let begin = FenceSpeed.processorSeconds
            let set = FenceSet(world.plans)
            let packing = FenceSpeed.processorSeconds - begin
            // The usual pattern has no name of its own.
            let name = "fences.\(self.world.spread)" + (pattern == .byVehicle ? "" : ".\(points)")
            figure("\(name).build", packing * 1000, "ms of CPU to pack \(world.plans.count) fences")
            if let export { try FencePolygonExport.write(world.plans, set, first.tracks, to: export) }
            for run in runs {
                let found = FenceSpeed(set: set, tracks: run.tracks).play(batch: run.batch)
                let name = "\(name).batch_\(run.batch)"
                figure(name, Double(found.points) / found.seconds, "points a CPU second, batches of \(run.batch)")
                figure("\(name).alarms", found.each(found.alarms), "alarms a point")
                figure("\(name).inside", found.each(found.inside), "fences remembered after a point")
                figure("\(name).skipped", found.each(found.skipped), "of the points passed over")
            }
        }
    }

    /// One fence changes in a set that a judge goes on using, again and again until the overlay is full.
    struct Change: ParsableCommand {
        @OptionGroup var world: World

        func run() throws {
            var world = try world.made()
            var set = FenceSet(world.plans)
            let clock = ContinuousClock()
            var times: [Double] = []
            for round in 0..<1000 {
                if set.isOverlayFull { set = set.rebuilt() }
                var plan = world.plans[round * 97 % world.plans.count]
                plan.shape = try world.shape()
                let (used, begin) = (set, clock.now)
                set.put(plan)
                times.append(seconds(clock.now - begin) * 1e6)
                guard set.plan(of: plan.id) == plan, used.plan(of: plan.id) != plan else {
                    throw ValidationError("the change was not seen, or seen by who went on with the set before")
                }
            }
            times.sort()
            figure("fences.change.p50", times[times.count / 2], "us, one of \(world.plans.count) fences")
            figure("fences.change.p99", times[times.count * 99 / 100] / 1000, "ms, the same")
        }
    }

    /// What a set takes, by the growth of this process's private memory: one set a process.
    struct Memory: ParsableCommand {
        @OptionGroup var world: World
        @Option(help: "The figure's name.") var name = "fences.memory"

        func run() throws {
            let plans = try world.made().plans
            let before = try FenceSpeed.privateKilobytes()
            // A set keeps the vertices of rings itself, so the plans take no part of its work.
            let set = FenceSet(plans)
            let kilobytes = try FenceSpeed.privateKilobytes() - before
            figure(name, kilobytes / 1024, "MiB, \(set.plans.count) fences of 32 vertices")
            figure("\(name).each", kilobytes * 1024 / Double(max(plans.count, 1)), "bytes a fence")
        }
    }
}

/// How fast points are judged, in points a second of user CPU time.
struct FenceSpeed {
    let set: FenceSet
    let tracks: [[FencePoint]]

    struct Result {
        /// Seconds of user CPU time.
        var seconds = 0.0
        var points = 0
        var alarms = 0
        /// Fences remembered after each point, all together.
        var inside = 0
        /// Points that the judge passed over: no fence was near their way.
        var skipped = 0

        func each(_ number: Int) -> Double { Double(number) / Double(max(points, 1)) }
    }

    /// Every vehicle in turn uploads a batch, until all tracks are used up. The fence states stay decoded.
    func play(batch: Int) -> Result {
        var fenceStates = [EntityFenceState](repeating: EntityFenceState(), count: tracks.count)
        var (judge, alarms) = (FenceJudge(), [FenceAlarm]())
        var result = Result()
        let longest = tracks.reduce(0) { max($0, $1.count) }
        let start = Self.processorSeconds
        for first in stride(from: 0, to: longest, by: batch) {
            for vehicle in tracks.indices {
                alarms.removeAll(keepingCapacity: true)
                var rest = tracks[vehicle].dropFirst(first).prefix(batch)
                while let point = rest.first {
                    let passed = judge.passOver(rest, of: &fenceStates[vehicle], by: set)
                    result.skipped += passed
                    if passed == 0 { _ = judge.judge(point, of: &fenceStates[vehicle], by: set, into: &alarms) }
                    let judged = max(passed, 1)
                    result.points += judged
                    result.inside += judged * fenceStates[vehicle].pairs.count
                    rest = rest.dropFirst(judged)
                }
                result.alarms += alarms.count
            }
        }
        result.seconds = Self.processorSeconds - start
        return result
    }

    /// User time of this process.
    static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
    }

    /// Private memory that no file backs.
    static func privateKilobytes() throws -> Double {
        let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Double($0) }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return number
    }
}

/// Fences, points and what is inside what for a program that is no part of Saker, in the machine's byte order: the number
/// of polygons; for each its number of vertices and their longitudes and latitudes; the number of points; for each its
/// longitude and latitude and its verdict: the sum of the marks of the polygons that it is in. Coordinates are whole 1e-7
/// degrees as Float64, so that another program computes with the same numbers.
enum FencePolygonExport {
    static func write(_ plans: [FencePlan], _ set: FenceSet, _ tracks: [[FencePoint]], to path: String) throws {
        var data = Data()
        append(UInt64(plans.count), to: &data)
        var places: [Int32: UInt64] = [:]
        for (place, plan) in plans.enumerated() {
            guard case .polygon(let polygon, _) = plan.shape.body else { continue }
            places[plan.id] = UInt64(place)
            append(UInt64(polygon.vertices.count), to: &data)
            for vertex in polygon.vertices {
                append(Double(polygon.frame.westE7) + Double(vertex.x), to: &data)
                append(Double(polygon.frame.southE7) + Double(vertex.y), to: &data)
            }
        }
        append(UInt64(tracks.reduce(0) { $0 + $1.count }), to: &data)
        var judge = FenceJudge()
        for point in tracks.joined() {
            append(Double(point.place.longitudeE7), to: &data)
            append(Double(point.place.latitudeE7), to: &data)
            // Near a boundary an entity that nobody knows has no place before its third point.
            var (fenceState, alarms) = (EntityFenceState(), [FenceAlarm]())
            for second in 0..<3 as Range<Int64> {
                let again = FencePoint(time: point.time.adding(milliseconds: second * 1000), place: point.place)
                _ = judge.judge(again, of: &fenceState, by: set, into: &alarms)
            }
            let inside = fenceState.pairs.lazy.filter { $0.place == .in }.compactMap { places[$0.fence] }
            append(inside.reduce(UInt64(0)) { $0 &+ mark($1) }, to: &data)
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// Another number for each polygon, so that a sum tells which they are.
    private static func mark(_ place: UInt64) -> UInt64 { (place &+ 1) &* 0x9E37_79B9_7F4A_7C15 }

    private static func append(_ value: some BitwiseCopyable, to data: inout Data) {
        withUnsafeBytes(of: value) { data.append(contentsOf: $0) }
    }
}
