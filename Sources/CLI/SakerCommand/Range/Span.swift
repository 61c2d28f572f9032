import Geodesy
import JSON

/// A stay or a trip of an answer: when it began and ended, and whether the range cuts it.
struct Span: Hashable {
    /// Unix seconds.
    var start: Int64
    var end: Int64
    var isOpenAtStart: Bool
    var isOpenAtEnd: Bool
    /// As the server wrote it; ``json`` has the values above.
    var members: [String: JSONValue]

    init(_ value: JSONValue) {
        start = (value["start_time"]?.integerValue ?? 0).clamped
        end = max((value["end_time"]?.integerValue ?? 0).clamped, start)
        let open = value["open"]?.stringValue ?? ""
        isOpenAtStart = ["start", "both"].contains(open)
        isOpenAtEnd = ["end", "both"].contains(open)
        members = value.objectValue ?? [:]
    }

    /// A stay of one point.
    init(stayAt point: EdgePoint) {
        (start, end, isOpenAtStart, isOpenAtEnd) = (point.time, point.time, false, false)
        members = ["stay_point": ["latitude": .double(point.latitude), "longitude": .double(point.longitude)]]
    }

    var json: JSONValue {
        var members = members
        members["start_time"] = .integer(start)
        members["end_time"] = .integer(end)
        members["duration"] = .integer(end - start)
        members["open"] =
            switch (isOpenAtStart, isOpenAtEnd) {
            case (true, true): "both"
            case (true, false): "start"
            case (false, true): "end"
            case (false, false): nil
            }
        return .object(members)
    }

    /// Of a stay.
    var place: Degrees? {
        guard let latitude = members["stay_point"]?["latitude"]?.doubleValue,
            let longitude = members["stay_point"]?["longitude"]?.doubleValue
        else { return nil }
        return Degrees(latitude: latitude, longitude: longitude)
    }

    /// A stay goes on as `later`, which ends after it. The place is the mean of both, by their durations.
    mutating func extendStay(by later: Span) {
        let (own, added) = (Double(end - start) + 1, Double(later.end - end) + 1)
        (end, isOpenAtEnd) = (later.end, later.isOpenAtEnd)
        guard let place, let other = later.place else { return }
        // Both are within some hundred metres. On the antimeridian the mean would lie on the other side of the earth.
        guard abs(place.longitude - other.longitude) < 180 else { return }
        func mean(_ first: Double, _ second: Double) -> JSONValue {
            .double((first * own + second * added) / (own + added))
        }
        var point = members["stay_point"]?.objectValue ?? [:]
        point["latitude"] = mean(place.latitude, other.latitude)
        point["longitude"] = mean(place.longitude, other.longitude)
        members["stay_point"] = .object(point)
    }

    /// A trip goes on as `later`, which begins with its last point.
    mutating func extendTrip(by later: Span) {
        (end, isOpenAtEnd) = (later.end, later.isOpenAtEnd)
        func number(_ name: String) -> (Double, Double) {
            (members[name]?.doubleValue ?? 0, later.members[name]?.doubleValue ?? 0)
        }
        for name in ["distance", "unrecorded_distance"] {
            let (own, other) = number(name)
            members[name] = .double(own + other)
        }
        let (own, other) = number("max_speed")
        if other > own { members["max_speed"] = later.members["max_speed"] }
        members["end_point"] = later.members["end_point"]
    }
}
