import Foundation
import Geodesy
import Geofencing
import Testing
import TrackModel
import TrackTestKit

@testable import LocalFences

/// Whatever is killed or cut off when, and however the fences change: box and server find the same alarms of the same points,
/// when the server judges each point by the version that the box says.
@Suite struct ServerFenceHistoryTests {
    private static let directories = ["/var", "/var/saker"]
    private static let environment = ProcessInfo.processInfo.environment
    private static let given = environment["SAKER_TEST_SEED"].flatMap(UInt64.init)

    /// Fresh seeds on every run, 100 a block. SAKER_TEST_HISTORIES says how many in all, and SAKER_TEST_SEED repeats one.
    private static let blocks: [[UInt64]] = {
        if let given { return [[given]] }
        let count = environment["SAKER_TEST_HISTORIES"].flatMap(Int.init) ?? 2000
        return stride(from: 0, to: max(count, 1), by: 100).map { start in
            (0..<min(100, count - start)).map { _ in UInt64.random(in: 0 ... .max) }
        }
    }()

    private struct Play {
        var history: FenceHistory
        var box: ServerBox
        var server = ModelServer()
        /// What the server has not got yet.
        var ring: [FencePoint] = []
        var durable: Set<String> = []
        var wasCut = false
        var number: Int32 = 0
        /// What the box has worked out, and does not use yet.
        var arriving: ServerFenceWork.Done?

        /// A few fences of the history come, change and go.
        mutating func edit(at time: Timestamp) {
            let (definitions, dice) = (
                history.definitions, DiskDice(seed: UInt64(time.milliseconds) &+ history.dice.next())
            )
            var random = dice
            var number = self.number
            server.edit(at: time) { fences in
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    guard let id = fences.keys.sorted().randomElement(using: &random), !random.one(in: 3) else {
                        number += 1
                        guard let definition = definitions.randomElement(using: &random) else { return }
                        fences[number] = try? Fence(id: number, definition, at: time)
                        continue
                    }
                    if random.one(in: 4) {
                        fences[id] = nil
                        continue
                    }
                    guard var definition = fences[id]?.definition else { continue }
                    if random.one(in: 2), case .circle(let centre, let radius) = definition.shape.outline {
                        definition.shape = ShapeDraft(
                            .circle(centre: centre, radius: radius * Double.random(in: 0.5...1.6, using: &random)))
                    } else {
                        definition.rule = random.one(in: 2) ? [.enter] : [.enter, .exit]
                        definition.stay = nil
                    }
                    _ = try? fences[id]?.update(definition, at: time)
                }
            }
            self.number = number
        }

        mutating func upload(_ count: Int) {
            for point in ring.prefix(count) {
                let uses = box.machine.newest.uses(from: point.time, through: point.time)
                server.judge(point, by: uses.last?.version ?? 0)
            }
            ring.removeFirst(min(count, ring.count))
            box.perform(box.machine.ringBegins(at: ring.first?.time))
        }

        /// `isSlow`: points come before the box has worked out what the server has sent.
        mutating func connect(isSlow: Bool) {
            arriving = nil
            guard let delivery = server.delivery(from: box.machine.toldVersion) else { return }
            do throws(FenceRefusal) {
                arriving = try box.work(delivery)
            } catch {
                Issue.record("\(error)")
            }
            if !isSlow { arrive() }
        }

        mutating func arrive() {
            guard let done = arriving else { return }
            arriving = nil
            let isAdopted = box.adopt(done)
            #expect(isAdopted)
        }

        mutating func restart(_ step: Int, all: [FencePoint]) {
            durable.formUnion(box.told.filter(\.isDurable).map(\.key))
            arriving = nil
            repeat {
                wasCut = wasCut || !box.disk.hasPower
                if box.disk.hasPower { box.disk.killProcess() } else { box.disk.crash(seed: UInt64(step)) }
                box.start()
                let last = box.machine.fenceState?.lastTime ?? Timestamp(milliseconds: .min)
                for point in all where point.time > last { box.replay(point) }
            } while !box.disk.hasPower
        }
    }

    private func play(seed: UInt64, cut: Int?, killOdds: Int) -> (wasCut: Bool, alarms: Int) {
        let history = FenceHistory(seed: seed)
        let disk = DiskSimulation(seed: seed, directories: Self.directories)
        disk.hasShortTransfers = seed % 3 == 0
        disk.callsUntilPowerFailure = cut
        var play = Play(history: history, box: ServerBox(disk: disk))
        var dice = DiskDice(seed: seed &* 31)
        var all: [FencePoint] = []
        for (step, point) in history.points.enumerated() {
            if step == 3 || dice.one(in: 15) { play.edit(at: point.time) }
            if dice.one(in: 4) { play.arrive() }
            if dice.one(in: 5) { play.connect(isSlow: dice.one(in: 2)) }
            if !disk.hasPower { play.restart(step, all: all) }
            play.ring.append(point)
            all.append(point)
            play.box.gather(point, sequence: UInt64(step + 1))
            if !disk.hasPower || dice.one(in: killOdds) { play.restart(step, all: all) }
            if dice.one(in: 6) { play.upload(Int.random(in: 0...play.ring.count, using: &dice)) }
        }
        play.upload(.max)
        let found = play.box.journaled
        #expect(found == play.server.keys, "seed \(seed), cut \(cut ?? -1)")
        play.durable.formUnion(play.box.told.filter(\.isDurable).map(\.key))
        #expect(play.durable.isSubset(of: Set(found)), "seed \(seed)")
        let told = play.box.told.filter(\.isDurable).map(\.key)
        #expect(Set(told).count == told.count, "told twice: seed \(seed)")
        return (play.wasCut, found.count)
    }

    @Test(arguments: blocks)
    func boxAndServerFindTheSameAlarms(seeds: [UInt64]) {
        var alarms = 0
        for seed in seeds {
            var dice = DiskDice(seed: seed &* 77)
            let cut = dice.one(in: 3) ? nil : Int.random(in: 0...200, using: &dice)
            alarms += play(seed: seed, cut: cut, killOdds: 20).alarms
        }
        // So that the comparison is about something; a hundred histories usually have some 300.
        if seeds.count == 100 { #expect(alarms > 100, "\(seeds)") }
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func aPowerCutAtEachStepGivesTheSameAlarms(seed: UInt64) {
        var cut = 0
        while play(seed: seed, cut: cut, killOdds: 1_000_000).wasCut { cut += 1 }
        #expect(cut > 15)
    }
}
