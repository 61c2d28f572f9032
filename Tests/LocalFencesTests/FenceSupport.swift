import AgentLogic
import Geodesy
import Geofencing
import TrackModel

@testable import LocalFences

/// A circle around 40.0, 116.0 that watches everyone.
func circle(_ radius: Double = 100, _ change: (inout FenceDefinition) -> Void = { _ in }) -> FenceDefinition {
    var definition = FenceDefinition(
        ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: radius)))
    definition.watch = .everyone
    change(&definition)
    return definition
}

/// A fix so many metres east of 40.0, 116.0, so many seconds after a beginning.
func east(_ seconds: Int64, _ metres: Double, speed: Int32 = 1000) -> Fix {
    guard let place = Coordinate(latitude: 40, longitude: 116 + metres / 85_393.95) else {
        preconditionFailure("no place")
    }
    return Fix(
        time: Timestamp(milliseconds: 1_795_000_000_000 + seconds * 1000), coordinate: place, speed: speed,
        accuracy: 50, mode: .threeDimensional)
}

let clock = SystemTime(milliseconds: 1_795_000_000_123)

/// Alarms that a circle of 100 m makes of a drive through it.
func someAlarms(_ count: Int = 2, entity: String = "van_07") -> (alarms: [LocalAlarm], memory: EntityMemory) {
    var (judge, memory, alarms) = (FenceJudge(), EntityMemory(), [FenceAlarm]())
    guard let fence = try? Fence(id: 1, circle(), at: Timestamp(milliseconds: 0)),
        let plan = try? fence.plan(from: Timestamp(milliseconds: .min))
    else { preconditionFailure("no fence") }
    var second: Int64 = 0
    while alarms.count < count {
        let metres = (second / 10) % 2 == 0 ? 200.0 : 10.0
        _ = judge.judge(
            FencePoint(east(second, metres, speed: 4000)), of: &memory, by: FenceSet([plan]), into: &alarms)
        second += 5
    }
    let told = alarms.prefix(count).map {
        LocalAlarm($0, of: circle(), in: AlarmScope(service: 7, entity: entity, source: .local))
    }
    return (told, memory)
}

extension [FenceMachine.Action] {
    /// What is told, in short.
    var told: [String] {
        compactMap { action in
            guard case .alarms(.tell(let alarm, let standing)) = action else { return nil }
            return "\(alarm.alarm.action) \(alarm.alarm.fence)\(standing == .notDurable ? " early" : "")"
        }
    }

    /// Alarms that are to be written.
    var writing: AlarmOutbox.Writing? {
        for case .alarms(.write(let writing)) in self { return writing }
        return nil
    }
}

extension FenceMachine {
    /// An import whose work is done before anything else happens.
    mutating func importing(
        _ whole: FenceImports.Whole, now: SystemTime
    ) throws(FenceRefusal) -> (outcome: FenceBook.Imported, actions: [Action]) {
        guard let adopted = adopt(try beginImport(whole, now: now).run()) else {
            preconditionFailure("nothing has changed meanwhile")
        }
        return adopted
    }
}
