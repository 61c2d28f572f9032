import Testing
import TrackModel

@testable import AgentLogic

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
