import AgentControl
import JSON
import TrackFiles
import TrackModel

/// Reads the points of a file one after the other, in the agent's form. An error names the file and the place in it.
struct PointFile {
    struct Point {
        let place: String
        let value: JSONValue
    }

    private let path: String
    private let now: Int64
    /// The attributes that are read; nil: all.
    private let attributes: Set<String>?
    /// The attributes that are texts where the format has no types.
    private let texts: Set<String>
    private var reader: TrackFileReader

    init(
        _ path: String, now: Int64, attributes: Set<String>? = nil, texts: Set<String> = [FloorAttribute.key]
    ) throws(CommandFailure) {
        self.path = path
        self.attributes = attributes
        self.texts = texts
        self.now = now
        do throws(TrackFileError) {
            reader = try TrackFileReader(path: path)
        } catch {
            throw Self.failure(path, error.description)
        }
    }

    /// The next point, nil after the last. Skips planned routes, because they have no times, and the corners of roads in an
    /// export, because the vehicle made no points there.
    mutating func next() throws(CommandFailure) -> Point? {
        while true {
            let point: FilePoint?
            do throws(TrackFileError) {
                point = try reader.next()
            } catch {
                throw Self.failure(path, error.description)
            }
            guard let point else { return nil }
            if point.isPlanned || point.attributes["_supplement"] != nil { continue }
            return Point(place: point.place, value: try value(of: point))
        }
    }

    private func value(of point: FilePoint) throws(CommandFailure) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for (field, text) in point.fields {
            switch field {
            case .time:
                guard let time = TimeExpression(text, now: now) else {
                    throw Self.failure(
                        path, "\(point.place): time '\(text)' is no time: write it as in 2026-03-05T08:20:12Z")
                }
                members[field.rawValue] = .integer(time.milliseconds)
            case .latitude, .longitude, .speed, .course, .altitude, .accuracy:
                guard let number = Double(decimal: text) else {
                    throw Self.failure(path, "\(point.place): \(field.rawValue) '\(text)' is no number")
                }
                members[field.rawValue] = .double(number)
            case .objectName: members[field.rawValue] = .string(text)
            }
        }
        guard members["time"] != nil else {
            throw Self.failure(path, "\(point.place): the point has no time: only points with a time count")
        }
        let kept = point.attributes.filter { Self.isOwn($0.key) && (attributes?.contains($0.key) ?? true) }
        if !kept.isEmpty {
            members["attributes"] = .object(
                Dictionary(uniqueKeysWithValues: kept.map { ($0.key, attribute($0.key, $0.value, of: point)) }))
        }
        let value = JSONValue.object(members)
        do throws(CustomPoint.Problem) {
            _ = try CustomPoint.point(value)
        } catch {
            throw Self.failure(path, "\(point.place): \(error.detail)")
        }
        return value
    }

    /// A text of GeoJSON stays one, also when it looks like a number: a column of texts would refuse the number. In quotes, as an
    /// export writes it, it is one in every format.
    private func attribute(_ key: String, _ text: String, of point: FilePoint) -> JSONValue {
        let value = AttributeText.value(text, type: nil)
        return value.stringValue == nil && (point.texts ?? texts).contains(key) ? .string(text) : value
    }

    /// What an export says of roads is no attribute of a point: no track column has such a name.
    private static func isOwn(_ key: String) -> Bool { key != "road_name" && !key.hasPrefix("_") }

    private static func failure(_ path: String, _ detail: String) -> CommandFailure {
        CommandFailure(.failed, "\(path): \(detail)".printable)
    }
}
