import Geodesy
import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

extension AnalysisEndpoints {
    /// `analysis/drivingbehavior`
    static let drivingBehavior = Endpoint(
        "analysis/drivingbehavior", .get,
        parameters + [
            "speeding_threshold", "harsh_acceleration_threshold", "harsh_breaking_threshold",
            "harsh_steering_threshold",
        ], about: \.namedEntity
    ) { (call, store: any PointStore) in
        let options = try DrivingOptions(call.parameters)
        // The speed 0 of a collapsed stop would be a harsh braking.
        let track = try await AnalysedTrack.read(call, store, collapsing: false)
        let asksForRoads = track.option.mapMatch || options.speeding == 0
        let match = asksForRoads ? await track.match(call) : nil
        let behaviour =
            match?.track.behaviour(options, denoised: track.samples, alongRoads: track.option.mapMatch)
            ?? DrivingAnalyzer.behaviour(options, in: track.samples)
        return Answer { answer in
            DrivingWriter(places: track.writer).write(behaviour, to: &answer)
            track.writeRemarks(call.options, roads: match?.state, breaks: behaviour.breaks, to: &answer)
        }
    }
}

extension DrivingOptions {
    /// A threshold of 0 is as if not given.
    fileprivate init(_ parameters: Parameters) throws(APIFailure) {
        self.init()
        speeding = try Self.threshold("speeding_threshold", parameters, sign: 1) ?? speeding
        acceleration = try Self.threshold("harsh_acceleration_threshold", parameters, sign: 1) ?? acceleration
        braking = try Self.threshold("harsh_breaking_threshold", parameters, sign: -1) ?? braking
        steering = try Self.threshold("harsh_steering_threshold", parameters, sign: 1) ?? steering
    }

    private static func threshold(
        _ name: String, _ parameters: Parameters, sign: Double
    ) throws(APIFailure) -> Double? {
        guard let value = try parameters.double(name), value != 0 else { return nil }
        guard value * sign > 0 else {
            throw APIFailure(.parameter, "\(name) must be \(sign > 0 ? "positive" : "negative")")
        }
        return value
    }
}

/// Writes driving behaviour with the published names.
private struct DrivingWriter {
    let places: PlaceWriter

    func write(_ behaviour: DrivingBehaviour, to answer: inout JSONWriter) {
        number("distance", behaviour.distance, digits: 4, to: &answer)
        answer.member("duration", behaviour.duration)
        number("average_speed", behaviour.averageSpeed, digits: 4, to: &answer)
        // Without points every number is 0; with points an unknown speed is left out.
        if let speed = behaviour.maximumSpeed ?? (behaviour.start == nil ? 0 : nil) {
            number("max_speed", speed, to: &answer)
        }
        if let start = behaviour.start, let end = behaviour.end {
            for (name, sample) in [("start_point", start), ("end_point", end)] {
                answer.object(name) {
                    write(sample.place, sample.timestamp, to: &$0)
                    // No geocoder knows an address.
                    $0.member("address", "")
                }
            }
        }
        answer.member("speeding_num", behaviour.speeding.count)
        answer.member("harsh_acceleration_num", behaviour.accelerations.count)
        answer.member("harsh_breaking_num", behaviour.brakings.count)
        answer.member("harsh_steering_num", behaviour.steerings.count)
        answer.array("speeding") { list in for episode in behaviour.speeding { list.object { write(episode, to: &$0) } }
        }
        for (name, events) in [
            ("harsh_acceleration", behaviour.accelerations), ("harsh_breaking", behaviour.brakings),
        ] {
            answer.array(name) { list in for event in events { list.object { write(event, to: &$0) } } }
        }
        answer.array("harsh_steering") { list in
            for event in behaviour.steerings { list.object { write(event, to: &$0) } }
        }
        write(behaviour.rate, to: &answer)
    }

    /// `harsh`, an addition to the published API: how much of the movement could be rated.
    private func write(_ rate: HarshRate, to answer: inout JSONWriter) {
        guard let share = rate.share else { return }
        answer.object("harsh") {
            number("rated", share, digits: 2, to: &$0)
            if rate.isInsufficient { $0.member("state", "insufficient_rate") }
        }
    }

    private func write(_ episode: SpeedingEpisode, to object: inout JSONWriter) {
        number("speeding_distance", episode.distance, digits: 4, to: &object)
        object.array("speeding_points") { list in
            for end in [episode.start, episode.end] {
                list.object {
                    write(end.place, end.time, to: &$0)
                    number("actual_speed", end.actualSpeed, to: &$0)
                    number("limit_speed", end.limit, to: &$0)
                }
            }
        }
    }

    private func write(_ event: HarshEvent, to object: inout JSONWriter) {
        write(event.place, event.time, to: &object)
        number("acceleration", event.acceleration, digits: 6, to: &object)
        number("initial_speed", event.initialSpeed, to: &object)
        number("end_speed", event.endSpeed, to: &object)
    }

    private func write(_ event: SteeringEvent, to object: inout JSONWriter) {
        write(event.place, event.time, to: &object)
        number("centripetal_acceleration", event.centripetalAcceleration, digits: 6, to: &object)
        object.member("turn_type", event.turn.rawValue)
        number("speed", event.speed, to: &object)
    }

    private func write(_ place: Degrees, _ time: Timestamp, to object: inout JSONWriter) {
        places.write(place, naming: .always, to: &object)
        object.member("loc_time", time.seconds)
    }

    /// Speeds are multiples of 0.036 km/h.
    private func number(_ name: String, _ value: Double, digits: Int = 3, to object: inout JSONWriter) {
        object.name(name)
        object.rounded(value, digits: digits)
    }
}
