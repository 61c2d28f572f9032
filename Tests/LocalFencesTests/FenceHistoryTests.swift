import AgentLogic
import AlarmLog
import DiskRing
import Foundation
import Geodesy
import Geofencing
import Testing
import TrackModel
import TrackTestKit

@testable import LocalFences

/// The durable order: whatever is killed or cut off when, the journal has the alarms of a run that nothing disturbed, each
/// once.
@Suite struct FenceHistoryTests {
    private static let directories = ["/var", "/var/saker"]
    private static let environment = ProcessInfo.processInfo.environment

    /// Fresh seeds on every run, 150 a block. The environment's SAKER_TEST_HISTORIES says how many in all, and SAKER_TEST_SEED
    /// repeats one.
    private static let blocks: [[UInt64]] = {
        if let seed = given { return [[seed]] }
        let count = environment["SAKER_TEST_HISTORIES"].flatMap(Int.init) ?? 3000
        return stride(from: 0, to: max(count, 1), by: 150).map { seeds(min(150, count - $0)) }
    }()
    private static let given = environment["SAKER_TEST_SEED"].flatMap(UInt64.init)

    private static func seeds(_ count: Int) -> [UInt64] { (0..<count).map { _ in UInt64.random(in: 0 ... .max) } }

    /// What the machine has seen in the end, given that a restart loses the fixes that are neither in the ring nor in the
    /// fence state that was found.
    private struct Witness {
        var seen: [FencePoint] = []
        var ring: [FencePoint] = []

        mutating func restarted(_ box: inout FenceBox) {
            let last = box.machine.fenceState(of: FenceBox.entity)?.lastTime ?? Timestamp(milliseconds: .min)
            seen.removeAll { $0.time > last }
            for point in ring where point.time > last {
                seen.append(point)
                box.replay(point)
            }
        }
    }

    /// One in `gather` fixes is in the ring, durably, before it is judged.
    private func play(seed: UInt64, gather: Int, cut: Int?, killOdds: Int) -> (wasCut: Bool, alarms: Int) {
        var history = FenceHistory(seed: seed)
        let disk = DiskSimulation(seed: seed, directories: Self.directories)
        disk.hasShortTransfers = seed % 3 == 0
        disk.callsUntilPowerFailure = cut
        var box = FenceBox(history.definitions, disk: disk)
        var witness = Witness()
        var wasCut = false
        var durable: Set<String> = []
        for (index, point) in history.points.enumerated() {
            if index % gather == 0 { witness.ring.append(point) }
            witness.seen.append(point)
            box.gather(point)
            let isCut = !disk.hasPower
            guard isCut || history.dice.one(in: killOdds) else { continue }
            durable.formUnion(box.told.filter(\.isDurable).map(\.key))
            box.told = box.told.filter(\.isDurable)
            // The power may fail again while the next process reads what it finds.
            repeat {
                wasCut = wasCut || !disk.hasPower
                if disk.hasPower { disk.killProcess() } else { disk.crash(seed: seed &+ UInt64(index)) }
                box.start()
                witness.restarted(&box)
            } while !disk.hasPower
        }
        let expected = FenceBox.undisturbed(witness.seen, history.definitions)
        let found = box.journaled
        let context = "seed \(seed), gather \(gather), cut \(cut ?? -1)"
        #expect(found == expected, "\(context)")
        if gather == 1 {
            #expect(found == FenceBox.undisturbed(history.points, history.definitions), "\(context)")
        }
        durable.formUnion(box.told.filter(\.isDurable).map(\.key))
        #expect(durable.isSubset(of: Set(found)), "\(context)")
        let told = box.told.filter(\.isDurable).map(\.key)
        #expect(Set(told).count == told.count, "told twice: \(context)")
        return (wasCut, found.count)
    }

    @Test(arguments: blocks)
    func killsAndPowerCutsAnywhereGiveTheSameAlarms(seeds: [UInt64]) {
        var alarms = 0
        for seed in seeds {
            var dice = DiskDice(seed: seed &* 77)
            let gather = [1, 1, 5, 30][Int(seed % 4)]
            let cut = dice.one(in: 3) ? nil : Int.random(in: 0...160, using: &dice)
            alarms += play(seed: seed, gather: gather, cut: cut, killOdds: 20).alarms
        }
        if seeds.count == 150 { #expect(alarms > 500, "\(seeds)") }
    }

    @Test(arguments: [11, 12, 13, 14] as [UInt64])
    func aPowerCutAtEachStepGivesTheSameAlarms(seed: UInt64) {
        var cut = 0
        while play(seed: seed, gather: seed % 2 == 0 ? 1 : 5, cut: cut, killOdds: 1_000_000).wasCut { cut += 1 }
        #expect(cut > 15)
    }

    /// A disk that refuses now and then: everything is told once, and everything is in the journal in the end, in its order.
    @Test(arguments: given.map { [$0] } ?? seeds(200))
    func aDiskThatRefusesHoldsNothingBack(seed: UInt64) {
        var history = FenceHistory(seed: seed)
        let disk = DiskSimulation(seed: seed, directories: Self.directories)
        var box = FenceBox(history.definitions, disk: disk)
        for point in history.points {
            if history.dice.one(in: 12) {
                let number: Int32 = history.dice.one(in: 2) ? 28 : 5
                disk.faults = [DiskFault([.write, .synchronizeData], times: 1 + Int(seed % 3), number: number)]
            }
            if history.dice.one(in: 15) { box.isHanging = true }
            let expected = box.told.count
            box.gather(point)
            if box.isHanging, history.dice.one(in: 2) { box.fire(.timeout) }
            if history.dice.one(in: 3) { box.release() }
            if history.dice.one(in: 5) { box.fire(.retry) }
            #expect(box.told.count >= expected)
        }
        disk.faults = []
        box.release()
        for _ in 0..<3 { box.fire(.retry) }
        let expected = FenceBox.undisturbed(history.points, history.definitions)
        #expect(box.journaled == expected, "seed \(seed)")
        #expect(box.told.map(\.key) == expected, "seed \(seed)")
        #expect(box.hooksRun == expected, "seed \(seed)")
        #expect(box.machine.outbox.waitingCount == 0 && box.machine.outbox.trouble == nil, "seed \(seed)")
        let early = box.told.count { !$0.isDurable }
        #expect(box.machine.outbox.counters.early == UInt64(early), "seed \(seed)")
        // Hooks that were run early are not owed by the journal.
        let found = try? box.journal.owed(limit: 10_000, now: FenceBox.now)
        let owed = Set((found?.alarms ?? []).map(\.content.id))
        #expect(owed.count == expected.count - early, "seed \(seed)")
    }
}

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
            definition.stay = StayAlarmRule(
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
