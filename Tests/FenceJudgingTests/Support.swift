import FenceJudging
import Geodesy
import Geofencing
import Testing
import TrackModel
import TrackStore
import TrackTestKit

let fleet = ServiceID(rawValue: 7)

/// A circle of 100 m around 40.0, 116.0.
func circle(_ name: String = "depot", radius: Double = 100, east: Double = 0) -> FenceDefinition {
    var definition = FenceDefinition(
        ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116 + degrees(east)), radius: radius)))
    definition.name = name
    return definition
}

/// Degrees of longitude at 40 degrees of latitude.
func degrees(_ metres: Double) -> Double { metres / 85_393.76 }

/// A point so many metres east of the circle's centre, at 10 m/s.
func point(_ seconds: Int64, _ east: Double, floor: String? = nil) throws -> TrackPoint {
    let place = try #require(Coordinate(latitude: 40, longitude: 116 + degrees(east)))
    return TrackPoint(
        Fix(time: .at(seconds), coordinate: place, speed: 1000, accuracy: 50, mode: .threeDimensional),
        attributes: floor.map { ["floor": .string($0)] } ?? [:])
}

func batch(_ points: [TrackPoint], received: Int64, position: StreamPosition? = nil) throws -> IngestBatch {
    IngestBatch(
        service: try #require(fleet), entity: "van", position: position, points: points,
        sequences: position.map { position in points.indices.map { position.first + UInt64($0) } } ?? [],
        payload: nil, received: .at(received))
}

extension BatchJudge {
    mutating func judge(
        _ batch: IngestBatch, from state: JudgedState, by fences: ServiceFences, own: OwnFences?
    ) -> Verdict {
        judge(batch, from: state, by: [JudgingFences(fences, own: own)])
    }
}

/// The fences, watching everyone since the beginning.
func everyones(_ definitions: FenceDefinition...) throws -> ServiceFences {
    ServiceFences(try definitions.enumerated().map { try record(Int32($0.offset + 1), $0.element) }) { _ in nil }
}

func record(_ id: Int32, _ definition: FenceDefinition, since: Timestamp? = .at(-1000)) throws -> FenceRecord {
    FenceRecord(fence: try Fence(id: id, definition, at: .at(-1000)), version: 1, everyoneSince: since)
}

/// In short: action, fence, time of the crossing in seconds.
func short(_ caused: CausedAlarm) -> String {
    "\(caused.alarm.action) \(caused.alarm.fence) "
        + "\(Double(caused.alarm.crossing.time.milliseconds(since: .at(0)) / 100) / 10)"
}
