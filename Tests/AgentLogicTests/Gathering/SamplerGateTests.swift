import Testing
import TrackModel

@testable import AgentLogic

struct SamplerGateTests {
    @Test func anInaccurateFixIsSkippedAndTheNextOneTakesItsPlace() {
        var sampler = Sampler(interval: 5, options: LocationOptions(desiredAccuracy: 10))
        #expect(sampler.fix(fix(at: 0, accuracy: 100)) == .point(fix(at: 0, accuracy: 100)))
        #expect(sampler.fix(fix(at: 5000, accuracy: 101)) == .skipped(.inaccurate))
        #expect(sampler.fix(fix(at: 6000)) == .point(fix(at: 6000)))
        #expect(sampler.fix(fix(at: 7000)) == .notDue)
        #expect(sampler.fix(fix(at: 10_000)) == .point(fix(at: 10_000)))
        #expect(sampler.counters.inaccurate == 1)
    }

    @Test func theFirstFixSetsTheGridEvenWhenItIsSkipped() {
        var sampler = Sampler(interval: 5, options: LocationOptions(desiredAccuracy: 1))
        #expect(sampler.fix(fix(at: 0, accuracy: 50)) == .skipped(.inaccurate))
        #expect(sampler.fix(fix(at: 3000, accuracy: 5)) == .point(fix(at: 3000, accuracy: 5)))
        #expect(sampler.fix(fix(at: 5000, accuracy: 5)) == .point(fix(at: 5000, accuracy: 5)))
    }

    @Test func whoHasNotMovedFarEnoughMakesNoPointUntilHeHas() {
        var sampler = Sampler(interval: 5, options: LocationOptions(distanceFilter: 20))
        #expect(sampler.fix(fix(at: 0)) == .point(fix(at: 0)))
        #expect(sampler.fix(fix(at: 5000, north: 19)) == .skipped(.unmoved))
        #expect(sampler.fix(fix(at: 6000, north: 21)) == .point(fix(at: 6000, north: 21)))
        #expect(sampler.fix(fix(at: 9000, north: 60)) == .notDue)
        #expect(sampler.fix(fix(at: 10_000, north: 42)) == .point(fix(at: 10_000, north: 42)))
    }

    @Test(
        arguments: [
            (.fitness, 255, 500), (.automotive, 585, 700), (.other, 945, 1100), (.airborne, 2445, 2600),
        ] as [(TravelActivity, Double, Double)])
    func eachActivityHasItsPlausibleSpeed(_ activity: TravelActivity, _ reachable: Double, _ jump: Double) {
        var sampler = Sampler(interval: 5, options: LocationOptions(activity: activity))
        #expect(sampler.fix(fix(at: 0)) == .point(fix(at: 0)))
        #expect(sampler.fix(fix(at: 5000, north: jump)) == .skipped(.implausible))
        let reached = fix(at: 6000, north: reachable)
        #expect(sampler.fix(reached) == .point(reached))
    }

    @Test func aSingleJumpIsRejectedAndTheTrackGoesOn() {
        var sampler = Sampler(interval: 2, options: LocationOptions(activity: .automotive))
        for second in 0..<100 as Range<Int64> {
            let jump = second % 10 == 4 ? 50_000.0 : 0
            _ = sampler.fix(fix(at: second * 1000, north: Double(second) * 20 + jump))
        }
        #expect(sampler.counters.implausible == 10)
        #expect(sampler.counters.points == 50)
    }

    @Test func aNewPlaceThatPersistsIsBelieved() {
        var sampler = Sampler(interval: 2, options: LocationOptions(activity: .automotive))
        _ = sampler.fix(fix(at: 0))
        let outcomes = (1...8 as ClosedRange<Int64>).map {
            sampler.fix(fix(at: $0 * 1000 + 1000, north: 1_000_000 + Double($0)))
        }
        #expect(outcomes.prefix(4).allSatisfy { $0 == .skipped(.implausible) })
        #expect(outcomes[4] == .point(fix(at: 6000, north: 1_000_005)))
        #expect(sampler.counters.implausible == 4)
    }

    @Test func tenFixesASecondAreBelievedNoSoonerThanAfterFourSeconds() {
        var sampler = Sampler(interval: 2)
        _ = sampler.fix(fix(at: 0))
        var accepted: Int64?
        for step in 0..<100 as Range<Int64> where accepted == nil {
            let time = 2000 + step * 100
            if case .point = sampler.fix(fix(at: time, north: 1_000_000)) { accepted = time }
        }
        #expect(accepted == 6000)
    }

    @Test func placesThatContradictEachOtherConfirmNothing() {
        var sampler = Sampler(interval: 2, options: LocationOptions(activity: .fitness))
        _ = sampler.fix(fix(at: 0))
        for step in 1...60 as ClosedRange<Int64> {
            let place = step.isMultiple(of: 2) ? 2_000_000.0 : 1_000_000
            #expect(sampler.fix(fix(at: 1000 + step * 1000, north: place)) == .skipped(.implausible))
        }
    }

    @Test func aHugeErrorDoesNotMakeEveryJumpPlausible() {
        var sampler = Sampler(interval: 2)
        _ = sampler.fix(fix(at: 0))
        #expect(sampler.fix(fix(at: 2000, north: 100_000, accuracy: .max)) == .skipped(.implausible))
        #expect(sampler.fix(fix(at: 3000, north: 100_000, accuracy: .min)) == .skipped(.implausible))
    }

    @Test func afterARestartTheBoxMayBeAnywhere() {
        var sampler = Sampler(interval: 2, options: LocationOptions(distanceFilter: 10_000))
        _ = sampler.fix(fix(at: 0))
        sampler.restart()
        #expect(sampler.fix(fix(at: 1000, north: 900_000)) == .point(fix(at: 1000, north: 900_000)))
        sampler.restart()
        #expect(sampler.fix(fix(at: 2000, north: 900_000)) == .point(fix(at: 2000, north: 900_000)))
    }

    @Test func optionsChangeInFlight() {
        var sampler = Sampler(interval: 2)
        _ = sampler.fix(fix(at: 0))
        sampler.setOptions(LocationOptions(distanceFilter: 100))
        #expect(sampler.fix(fix(at: 2000)) == .skipped(.unmoved))
        sampler.setOptions(LocationOptions())
        #expect(sampler.fix(fix(at: 3000)) == .point(fix(at: 3000)))
    }
}

struct FixGatesTests {
    @Test func everyRightFixPassesAtTheReceiversOwnPace() {
        var gates = FixGates()
        let fixes = (0..<20).map { fix(at: $0 * 200, north: Double($0)) }
        #expect(gates.passed(fixes).count == 20)
    }

    @Test func timeNeverGoesBack() {
        var gates = FixGates()
        #expect(gates.passed([fix(at: 5000), fix(at: 5000), fix(at: 4000), fix(at: 6000)]) == [5000, 6000])
        // Gathering that begins again does not change that.
        gates.restart()
        #expect(gates.passed([fix(at: 6000), fix(at: 5000), fix(at: 6001)]) == [6001])
    }

    @Test func datesThatWereTooLateAreGivenUp() {
        var gates = FixGates()
        #expect(gates.passed([fix(at: 619_315_200_000), fix(at: 0)]) == [619_315_200_000])
        gates.beginAnew()
        #expect(gates.passed([fix(at: 0), fix(at: 1000, north: 10)]) == [0, 1000])
    }

    @Test func anInaccurateFixDoesNotPass() {
        var gates = FixGates(options: LocationOptions(desiredAccuracy: 10))
        #expect(gates.passed([fix(at: 0, accuracy: 101), fix(at: 1000, accuracy: 100)]) == [1000])
        gates.setOptions(LocationOptions())
        #expect(gates.passed([fix(at: 2000, accuracy: 5000)]) == [2000])
    }

    @Test func aJumpPassesWhenItPersists() {
        var gates = FixGates()
        #expect(gates.passed([fix(at: 0)]) == [0])
        let away = (1...6).map { fix(at: $0 * 1000, north: 5000) }
        #expect(gates.passed(away) == [5000, 6000])
        // And not when the vehicle was back meanwhile.
        var others = FixGates()
        let mixed = (0..<10).map { fix(at: $0 * 1000, north: $0 % 2 == 0 ? 0 : 5000) }
        #expect(others.passed(mixed) == [0, 2000, 4000, 6000, 8000])
    }

    @Test func whoWasCarriedAwayWhileNobodyGatheredIsBelievedAtOnce() {
        var gates = FixGates()
        #expect(gates.passed([fix(at: 0)]) == [0])
        gates.restart()
        #expect(gates.passed([fix(at: 1000, north: 50_000)]) == [1000])
    }
}

extension FixGates {
    /// The times of the fixes that pass, milliseconds after the start.
    fileprivate mutating func passed(_ fixes: [Fix]) -> [Int64] {
        var times: [Int64] = []
        for fix in fixes where admits(fix) { times.append(fix.time.milliseconds - epochStart) }
        return times
    }
}
