import ArgumentParser
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

        func made() throws -> FenceWorld {
            guard let spread = FenceWorld.Spread(rawValue: spread) else {
                throw ValidationError("\(spread) is none of \(FenceWorld.Spread.allCases.map(\.rawValue))")
            }
            var world = FenceWorld(spread, seed: seed)
            if let file { try world.take(FenceFile.shapes(file)) } else { try world.make(fences) }
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
            let recorded = try drive.map(FenceFile.drive) ?? []
            let runs = pattern.runs(in: &world, recorded)
            guard let first = runs.first else { throw ValidationError("p6 needs a drive: give --drive") }
            let begin = FenceSpeed.processorSeconds
            let set = FenceSet(world.plans)
            let packing = FenceSpeed.processorSeconds - begin
            // The usual pattern has no name of its own.
            let name = "fences.\(self.world.spread)" + (pattern == .byVehicle ? "" : ".\(points)")
            figure("\(name).build", packing * 1000, "ms of CPU to pack \(world.plans.count) fences")
            if let export { try FenceExport.write(world.plans, set, first.tracks, to: export) }
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
