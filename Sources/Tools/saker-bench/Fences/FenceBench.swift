import ArgumentParser
import Geofencing
import TrackModel

/// Measures the judge of fences: points a second of user CPU time, a change, memory.
struct FenceBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fences", abstract: "Speed and memory of fences.",
        subcommands: [Speed.self, Change.self, Memory.self])

    struct World: ParsableArguments {
        @Option(help: "f1: even; f2: around 200 centres; f3: one city.") var spread = "f2"
        @Option(help: "How many fences.") var fences = 100_000
        @Option(help: "The seed of the made-up world.") var seed: UInt64 = 1

        func made() throws -> FenceWorld {
            guard let spread = FenceWorld.Spread(rawValue: spread) else {
                throw ValidationError("\(spread) is none of \(FenceWorld.Spread.allCases.map(\.rawValue))")
            }
            return try FenceWorld(spread, fences: fences, seed: seed)
        }
    }

    /// Batches of six points of many vehicles, then batches of 1,000 points of fewer.
    struct Speed: ParsableCommand {
        @OptionGroup var world: World
        @Option(help: "A file for the fences and the points, for another program.") var export: String?

        func run() throws {
            var world = try world.made()
            let start = Timestamp(seconds: 1_795_000_000)
            let short = (0..<2000).map { _ in world.drive(points: 96, stride: 75, from: start) }
            let long = (0..<100).map { _ in world.drive(points: 1000, stride: 75, from: start) }
            let building = FenceSpeed.processorSeconds
            let set = FenceSet(world.plans)
            let name = "fences.\(self.world.spread)"
            figure("\(name).build", (FenceSpeed.processorSeconds - building) * 1000, "ms of CPU to pack all fences")
            if let export { try FenceExport.write(world.plans, set, short, to: export) }
            for (batch, tracks) in [(6, short), (1000, long)] {
                let found = FenceSpeed(set: set, tracks: tracks).play(batch: batch)
                figure("\(name).batch_\(batch)", found.rate, "points a CPU second, batches of \(batch)")
                figure("\(name).batch_\(batch).alarms", found.alarms, "alarms a point")
                figure("\(name).batch_\(batch).inside", found.inside, "fences remembered after a point")
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
                plan.shape = try world.star()
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
