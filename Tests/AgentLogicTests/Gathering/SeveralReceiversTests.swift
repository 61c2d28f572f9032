import Testing
import TrackModel

@testable import AgentLogic

/// Receivers of one gpsd whose dates disagree, and receivers whose clock stands still.
struct SeveralReceiversTests {
    private let ahead: Int64 = 619_315_200_000

    /// A guard and what people are told, with a fix of each receiver a second.
    private struct Drive {
        var guarded = TimeGuard()
        var watch = ReceiverDateMonitor()
        private(set) var now: Int64 = 0
        /// The dates that the fixes of each receiver got, milliseconds after the start; nil: none.
        private(set) var dates: [String: [Int64?]] = [:]

        /// `errors`: of each receiver's date, in their order.
        mutating func second(_ errors: KeyValuePairs<String, Int64>, isKept: Bool = false) {
            now += 1000
            for (device, error) in errors {
                let epoch = Epoch(
                    fix: fix(at: now + error), device: device, arrival: ClockReading(at: now, isKept: isKept))
                let verdict = guarded.judge(epoch)
                _ = watch.judged(epoch, verdict)
                guard case .dated(let fix, _) = verdict else {
                    dates[device, default: []].append(nil)
                    continue
                }
                dates[device, default: []].append(fix.time.milliseconds - epochStart)
            }
        }
    }

    private func times(_ seconds: ClosedRange<Int64>) -> [Int64?] { seconds.map { $0 * 1000 } }

    /// Nobody keeps a clock: the one that is believed goes on, whichever comes first in a second, and the other one is named.
    @Test(arguments: [-7_200_000, 86_400_000, 619_315_200_000] as [Int64], [false, true])
    func theDateThatIsBelievedStays(_ error: Int64, _ isWrongFirst: Bool) {
        var drive = Drive()
        for _ in 1...3 { drive.second(["/dev/a": 0]) }
        for _ in 4...60 {
            drive.second(isWrongFirst ? ["/dev/b": error, "/dev/a": 0] : ["/dev/a": 0, "/dev/b": error])
        }
        #expect(drive.dates["/dev/a"] == times(1...60))
        #expect(drive.dates["/dev/b"]?.allSatisfy { $0 == nil } == true)
        #expect(
            drive.watch.trouble
                == .receivers(used: fix(at: 60_000).time, other: fix(at: 60_000 + error).time, device: "/dev/b"))
        #expect(drive.guarded.takeDisproved().isEmpty)
        // The right one is gone: after half a minute the other one counts.
        for _ in 61...100 { drive.second(["/dev/b": error]) }
        #expect(drive.dates["/dev/b"]?.last == 100_000 + error)
    }

    /// A receiver that corrects its own date is believed, although another one confirms its former date no more.
    @Test func aReceiverCorrectsItselfBesideAnotherOne() {
        var drive = Drive()
        for _ in 1...20 { drive.second(["/dev/a": ahead, "/dev/b": 0]) }
        #expect(drive.dates["/dev/b"]?.allSatisfy { $0 == nil } == true)
        for _ in 21...40 { drive.second(["/dev/a": 0, "/dev/b": 0]) }
        #expect(drive.dates["/dev/a"]?.suffix(10) == times(31...40)[...])
        #expect(drive.watch.trouble == nil)
    }

    /// A date before this program was made contradicts no date of today.
    @Test func aReceiverOfTheLastRolloverSilencesNoOther() {
        var drive = Drive()
        for _ in 1...3 { drive.second(["/dev/old": -ahead]) }
        for _ in 4...40 { drive.second(["/dev/old": -ahead, "/dev/new": 0]) }
        #expect(drive.dates["/dev/new"]?.suffix(20) == times(21...40)[...])
    }

    /// A kept clock says which one is right: points of the other one have the clock's time.
    @Test(arguments: [false, true]) func aKeptClockDecides(_ isWrongFirst: Bool) {
        var drive = Drive()
        for _ in 1...30 {
            drive.second(
                isWrongFirst ? ["/dev/b": ahead, "/dev/a": 0] : ["/dev/a": 0, "/dev/b": ahead], isKept: true)
        }
        #expect(drive.dates["/dev/a"] == times(1...30) && drive.dates["/dev/b"] == times(1...30))
        #expect(
            drive.watch.trouble
                == .receivers(used: fix(at: 30_000).time, other: fix(at: 30_000 + ahead).time, device: "/dev/b"))
    }

    // MARK: Bursts

    /// The computer stands still between the bursts, and no clock of it sees how long.
    @Test(arguments: [2, 3] as [Int64]) func burstsThatNoClockSeparatesAreGathered(_ length: Int64) {
        var sampler = GuardedSampler(interval: 1)
        _ = sampler.pointTimes([0, 1000, 2000])
        var made: [Int64] = []
        for burst in 1...20 as ClosedRange<Int64> {
            made += sampler.pointTimes((0..<length).map { burst * 700_000 + $0 * 1000 })
        }
        #expect(made.count >= 17 * Int(length - 1), "\(made)")
    }

    /// Dates that jump within what would be a burst are none.
    @Test func jumpsAreNoBursts() {
        var sampler = GuardedSampler(interval: 1)
        _ = sampler.pointTimes([0, 1000, 2000])
        #expect(sampler.pointTimes((1...40).map { $0 * 700_000 }) == [])
        let back = (1...20 as ClosedRange<Int64>).flatMap { [-$0 * 700_000, -$0 * 700_000 + 1000] }
        #expect(sampler.pointTimes(back) == [])
    }

    // MARK: A clock that stands still

    private func standing(isKept: Bool, _ seconds: Int) -> (epochs: [Epoch], trouble: DateTrouble?) {
        var (assembler, guarded, watch) = (EpochAssembler(), TimeGuard(), ReceiverDateMonitor())
        var epochs: [Epoch] = []
        for second in 0..<Int64(seconds) {
            let reading = ClockReading(at: second * 1000, isKept: isKept)
            // Two reports in each second, as of RMC and GGA.
            for _ in 0..<2 {
                let report = GNSSReport(time: fix(at: 0).time, mode: 3, latitude: 52, longitude: 4)
                guard let epoch = assembler.report(report, at: reading) ?? assembler.flush() else { continue }
                let verdict = guarded.judge(epoch)
                _ = watch.judged(epoch, verdict)
                epochs.append(epoch)
                if case .dated(let fix, _) = verdict { epochs[epochs.count - 1].fix = fix }
            }
        }
        return (epochs, watch.trouble)
    }

    @Test func aStandingClockIsAMissingTime() {
        let (epochs, trouble) = standing(isKept: false, 40)
        #expect(epochs.first?.hasTime == true && epochs.dropFirst().allSatisfy { !$0.hasTime && $0.standsAt != nil })
        #expect(epochs.count >= 30)
        #expect(trouble == .standing(receiver: fix(at: 0).time, isClockUsed: false))
        let (kept, told) = standing(isKept: true, 40)
        #expect(kept.dropFirst().allSatisfy { $0.fix.isClockTime } && kept.last?.fix.time == fix(at: 39_000).time)
        #expect(told == .standing(receiver: fix(at: 0).time, isClockUsed: true))
    }

    /// A time that goes on ends it at once, and a slow receiver that tells a time in two reports has no standing clock.
    @Test func aTimeThatGoesOnStandsNoMore() {
        var assembler = EpochAssembler()
        func epochs(_ times: [Int64], every step: Int64, from start: Int64) -> [Epoch] {
            times.enumerated().compactMap { index, time in
                let report = GNSSReport(time: fix(at: time).time, mode: 3, latitude: 52, longitude: 4)
                let now = ClockReading(at: start + Int64(index) * step)
                return assembler.report(report, at: now) ?? assembler.flush()
            }
        }
        let standing = epochs(Array(repeating: 0, count: 20), every: 1000, from: 0)
        #expect(standing.last?.standsAt == fix(at: 0).time)
        let after = epochs([20_000, 21_000], every: 1000, from: 20_000)
        #expect(after.allSatisfy { $0.hasTime })
        let slow = epochs([100_000, 100_000, 160_000, 160_000], every: 20_000, from: 100_000)
        #expect(slow.allSatisfy { $0.standsAt == nil })
    }
}
