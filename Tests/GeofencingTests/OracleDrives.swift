import Geodesy
import Testing
import TrackModel

@testable import Geofencing

/// The drives of the other oracles, for what must hold whatever happens between two of their points.
struct OracleDrive: CustomTestStringConvertible, Sendable {
    let name: String
    let plans: [FencePlan]
    let points: [FencePoint]
    /// What it tells.
    let actions: [FenceAction]

    var testDescription: String { name }

    private init(_ name: String, _ plans: [FencePlan], _ points: [FencePoint], _ actions: [FenceAction] = []) {
        (self.name, self.plans, self.points, self.actions) = (name, plans, points, actions)
    }

    static let all: [OracleDrive] = standing + passing + staying

    // MARK: Jitter and noise at a circle of 50 m

    private static let round = plan(circle(40.0, 116.0, 50))

    private static func metres(_ speed: Double, _ places: (Double, Double)...) -> [FencePoint] {
        places.map { east($0.0, $0.1, speed: speed) }
    }

    private static let standing = [
        OracleDrive("S1", [round], metres(0.3, (0, 20), (5, 45), (10, 52), (15, 48), (20, 54), (25, 49))),
        OracleDrive("S2", [round], metres(4, (0, 20), (5, 45), (10, 65), (15, 85)), [.exit]),
        OracleDrive("S3", [round], metres(8, (0, 20), (5, 45), (10, 85)), [.exit]),
        OracleDrive("S4", [round], metres(0.2, (0, 8.2), (12, 200.2), (24, 9.6))),
        OracleDrive("S5", [round], metres(0.2, (0, 8.2), (12, 200.2), (24, 201)), [.exit]),
        OracleDrive(
            "S6", [round],
            [east(0, 10, speed: 0.3), east(5, 180, accuracy: 150, speed: 0.3), east(10, 12, speed: 0.3)]),
        OracleDrive(
            "S7", [round],
            [east(0, 10, speed: 10)]
                + [(10.0, 90.0), (20, 130), (30, 180)].map { east($0.0, $0.1, accuracy: 150, speed: 10) }, [.exit]),
        OracleDrive(
            "S8", [round], (0...6).map { east(Double($0) * 60, 20 + Double($0) * 10, accuracy: 4, speed: 0.5) },
            [.exit]),
        OracleDrive("S9", [round], [east(0, 95, accuracy: 60), east(5, 30), east(10, 28)]),
        OracleDrive(
            "S10", [plan(circle(40.0, 116.0, 50)) { $0.denoise = 30 }],
            [east(0, 200, speed: 20), east(5, 30, accuracy: 31, speed: 20), east(10, 20, speed: 20)], [.enter]),
        OracleDrive(
            "S11", [round],
            [(0.0, 10.0), (60, 900)].map { east($0.0, $0.1, accuracy: nil, speed: 0, receiver: false) }, [.exit]),
        OracleDrive("S12", [round], metres(0, (0, 10), (40_000, 3000), (40_005, 3001)), [.exit]),
        OracleDrive("S13", [round], metres(0, (0, 200), (60, 10), (120, 9)), [.enter]),
        OracleDrive(
            "S25", [round], metres(3, (0, 90)) + metres(0.6, (5, 60), (10, 55), (15, 49), (20, 53), (25, 48), (30, 54))),
        OracleDrive(
            "S26", [round], (0...10).map { east(Double($0) * 10, 92 - Double($0) * 5, accuracy: 4, speed: 0.5) },
            [.enter]),
    ]

    // MARK: Between two points

    private static let large = plan(circle(40.0, 116.0, 100))
    private static let square = plan(polygon(box(40.00, 40.01, 116.00, 116.01)))
    private static let route = plan(corridor([(40.0, 116.00), (40.0, 116.02)], 50))

    private static func way(_ places: (Double, Double, Double)..., speed: Double? = nil) -> [FencePoint] {
        places.map { point($0.0, $0.1, $0.2, speed: speed) }
    }

    private static let passing = [
        OracleDrive("S14", [large], way((0, 40, 115.9976579), (20, 40, 116.0023421)), [.enter, .exit]),
        OracleDrive("S15", [large], way((0, 40.0008736, 115.9976579), (20, 40.0008736, 116.0023421))),
        OracleDrive("S16", [large], way((0, 40, 115.9976579), (600, 40, 116.0023421))),
        OracleDrive("S17", [square], way((1000, 39.998, 116.004), (1020, 40.003, 116.009)), [.enter]),
        OracleDrive("S18", [square], way((0, 39.999, 116.008), (15, 40.0025, 116.0115)), [.enter, .exit]),
        OracleDrive("S19", [square], way((0, 39.999, 116.009), (15, 40.001, 116.011))),
        OracleDrive(
            "S20",
            [
                plan(
                    polygon([
                        (40.0, 116.0), (40.0, 116.03), (40.02, 116.03), (40.02, 116.02), (40.01, 116.02),
                        (40.01, 116.01), (40.02, 116.01), (40.02, 116.0),
                    ]))
            ], way((0, 40.015, 116.005), (60, 40.015, 116.025))),
        OracleDrive(
            "S21",
            [plan(polygon([(-16.81, 179.998), (-16.81, -179.998), (-16.79, -179.998), (-16.79, 179.998)]))],
            way((0, -16.8, 179.99), (60, -16.8, -179.99)), [.enter, .exit]),
        OracleDrive(
            "S22", [square, plan(polygon(box(40.00, 40.01, 116.01, 116.02)), id: 2)],
            way((-10, 40.005, 116.005), (0, 40.005, 116.0085), (10, 40.005, 116.0120)), [.exit, .enter]),
        OracleDrive(
            "S23", [route],
            way(
                (0, 40.0, 116.005), (5, 40.0004, 116.0058), (10, 40.0009, 116.0064), (15, 40.0014, 116.007),
                (25, 40.0009, 116.0085), (35, 40.0002, 116.0095), speed: 15), [.exit, .enter]),
        OracleDrive("S24", [route], way((0, 39.998, 116.01), (10, 40.002, 116.01))),
    ]

    // MARK: Stays, settle, floors, groups

    /// S14's way, stopping inside: enter at 5.0.
    private static func stay(_ times: [Double]) -> [FencePoint] {
        way((0, 40, 115.9976579), (10, 40, 116.0)) + times.map { point($0, 40, 116.0) }
    }

    private static func stays(_ stay: StayAlarmRule?, settle: Int = 0) -> [FencePlan] {
        [
            plan(circle(40.0, 116.0, 100)) {
                ($0.rule, $0.stay, $0.settle) = ([.enter, .exit, .stay], stay, settle)
            }
        ]
    }

    private static let staying = [
        OracleDrive(
            "rule 10", stays(StayAlarmRule(after: 60, every: 60)),
            stay(stride(from: 20, through: 130, by: 10).map { $0 }),
            [.enter, .stay, .stay]),
        OracleDrive("rule 11", stays(StayAlarmRule(after: 60, every: 60)), stay([1810]), [.enter, .stay]),
        OracleDrive("rule 12", stays(StayAlarmRule(after: 300)), stay([200, 400, 800]), [.enter, .stay]),
        OracleDrive(
            "rule 12, leaving", stays(StayAlarmRule(after: 300)), stay([240]) + way((250, 40, 116.0020874), speed: 20),
            [.enter, .exit]),
        OracleDrive(
            "a stay that waits", stays(StayAlarmRule(after: 60)),
            stay([50]) + way((60, 40, 116.00121), (80, 40, 116.00121), (90, 40, 116.0)), [.enter, .stay]),
        OracleDrive(
            "rule 14", stays(nil, settle: 30),
            way((-10, 40, 116.01), (0, 40, 116), (20, 40, 116), (35, 40, 116), speed: 90), [.enter]),
        OracleDrive(
            "rule 14, undone", stays(nil, settle: 30),
            way((-10, 40, 116.01), (0, 40, 116), (20, 40, 116.01), (60, 40, 116.01), speed: 90)),
        OracleDrive(
            "rule 15", [plan(circle(40.0, 116.0, 100)) { $0.floor = FloorCode(name: "3") }],
            [(60.0, "2"), (120, "3"), (180, nil), (240, "2")].map { point($0.0, 40, 116, floor: $0.1) },
            [.enter, .exit]),
        OracleDrive(
            "rule 16",
            [0.0, 100].enumerated().map { index, metres in
                plan(circle(40.0, 116.0 + metres / metresPerDegreeEast, 60), id: Int32(index + 1)) {
                    $0.group = GroupCode(name: "corner", watch: "van")
                }
            }, (0...40).map { east(Double($0), -120 + Double($0) * 10, speed: 10) },
            [.enter, .enter, .enter, .exit, .exit, .exit]),
    ]
}

/// The rules without any haste: every fence is judged for every point, by its plan alone. No index, no leaf, no short cut.
/// `denoises` are those of all fences that there ever were, as a set of fences keeps them.
struct ReferenceJudge {
    static func judge(
        _ point: FencePoint, of fenceState: inout EntityFenceState, by plans: [FencePlan], denoises: [Int32],
        into alarms: inout [FenceAlarm]
    ) {
        if let last = fenceState.lastTime, point.time <= last { return }
        var told = FenceAlarmCollector()
        var pairs: [FencePair] = []
        for plan in plans.sorted(by: { $0.id < $1.id }) {
            let kept = fenceState.pair(of: plan.id)
            guard point.time >= plan.from, point.passes(denoise: plan.denoise) else {
                if let kept { pairs.append(kept) }
                continue
            }
            let last = fenceState.lastPoint(denoise: plan.denoise)
            var pair = fenceState.present(kept, of: plan, last: last)
            PairJudge(step: FenceStep(from: last, to: point)).judge(&pair, of: plan, into: &told)
            if pair.isWorthKeeping { pairs.append(pair) }
        }
        fenceState.pairs = pairs
        let step = FenceStep(from: fenceState.points.first, to: point)
        told.alarms += GroupJudge(changes: told.changes, step: step).alarms { group, changed in
            pairs.contains { pair in
                pair.place == .in && !changed.contains(pair.fence)
                    && plans.contains { $0.id == pair.fence && $0.group == group }
            }
        }
        let limits = plans.filter { plan in
            plan.speedLimit != nil && plan.validity?.contains(point.time) ?? true
                && pairs.contains { $0.fence == plan.id && $0.place == .in }
        }
        let governing = limits.min { left, right in
            (left.speedLimit?.speed ?? 0, left.id) < (right.speedLimit?.speed ?? 0, right.id)
        }
        let verdict = OverspeedJudge.judge(fenceState.overspeed, governing: governing, step: step)
        fenceState.overspeed = verdict.episode
        if let alarm = verdict.alarm { told.alarms.append(alarm) }
        fenceState.remember(point, denoises: denoises)
        told.arrange()
        alarms += told.alarms
    }
}
