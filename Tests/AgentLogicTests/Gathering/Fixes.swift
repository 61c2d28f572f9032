import TrackModel

@testable import AgentLogic

/// 2026-11-21T06:00:00Z.
let epochStart: Int64 = 1_795_240_800_000

/// A fix some milliseconds after the start, some metres north of 52 N 4 E.
func fix(at milliseconds: Int64, north metres: Double = 0, accuracy: Int32? = nil) -> Fix {
    let latitude = 52 + metres / 111_194.93
    guard let coordinate = Coordinate(latitude: latitude, longitude: 4) else {
        fatalError("a test asked for a place beyond the pole: \(metres) m")
    }
    return Fix(
        time: Timestamp(milliseconds: epochStart + milliseconds), coordinate: coordinate, accuracy: accuracy,
        mode: .threeDimensional, status: .plain)
}

extension ClockReading {
    /// Milliseconds after the start, by a monotonic clock that began an hour before. `system`: the same of the system clock.
    init(at now: Int64, system: Int64? = nil, isKept: Bool = false) {
        self.init(
            now: MonotonicTime(milliseconds: now + 3_600_000),
            system: Timestamp(milliseconds: epochStart + (system ?? now)), isKept: isKept)
    }
}

extension EpochAssembler {
    /// At a moment that plays no part.
    mutating func report(_ report: GNSSReport) -> Fix? { self.report(report, at: ClockReading(at: 0))?.fix }
}

extension Epoch {
    var time: Timestamp { fix.time }
    var mode: FixMode? { fix.mode }
    var accuracy: Int32? { fix.accuracy }
    var speed: Int32? { fix.speed }
}

/// A guard and a sampler one behind the other, as the agent has them. Nobody keeps the system clock.
struct GuardedSampler {
    private var time: TimeGuard
    private(set) var sampler: Sampler
    /// Milliseconds after the start, by the monotonic clock.
    private var now: Int64 = 0

    init(interval: Int, options: LocationOptions = LocationOptions(), newest: Int64? = nil) {
        let newest = newest.map { Timestamp(milliseconds: epochStart + $0) }
        time = TimeGuard(newest: newest)
        sampler = Sampler(interval: interval, options: options, floor: newest)
    }

    var counters: SamplerCounters { sampler.counters }

    mutating func pass(_ milliseconds: Int64) { now += milliseconds }

    /// The times of the points that come of fixes, milliseconds after the start. So many milliseconds pass with each fix.
    mutating func pointTimes(_ times: some Sequence<Int64>, every step: Int64 = 1000) -> [Int64] {
        times.compactMap { time in
            now += step
            let epoch = Epoch(fix: AgentLogicTests.fix(at: time), arrival: ClockReading(at: now))
            let outcome: Sampler.Outcome
            switch self.time.judge(epoch) {
            case .dated(let fix, let beginsAnew):
                if beginsAnew { sampler.beginAnew() }
                outcome = sampler.fix(fix)
            case .notLater: outcome = sampler.skip(.notLater)
            case .unconfirmed: outcome = sampler.skip(.unconfirmedTime)
            case .withoutTime: outcome = sampler.skip(.withoutTime)
            }
            guard case .point(let point) = outcome else { return nil }
            return point.time.milliseconds - epochStart
        }
    }
}

extension Sampler {
    /// The times of the points that come of fixes at some times, milliseconds after the start.
    mutating func pointTimes(_ times: some Sequence<Int64>) -> [Int64] {
        times.compactMap { time in
            guard case .point(let point) = fix(AgentLogicTests.fix(at: time)) else { return nil }
            return point.time.milliseconds - epochStart
        }
    }
}
