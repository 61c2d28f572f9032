package import JSON
package import TrackModel

/// A point of `AddPoints`, in the units of the control interface.
package enum CustomPoint {
    /// The most points of one call.
    package static let maximumCount = 1000

    /// Reads all points. Throws for the first point that breaks a rule, with its index and the member.
    static func points(_ values: [JSONValue]) throws(AgentControlError) -> [TrackPoint] {
        guard (1...maximumCount).contains(values.count) else {
            throw AgentControlError(
                .parameterError, in: .addPoints,
                reason: "\(values.count) points: give 1 to \(maximumCount) in one call", parameter: "points")
        }
        var points: [TrackPoint] = []
        points.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            do throws(Problem) {
                points.append(try point(value))
            } catch {
                throw AgentControlError(
                    .parameterError, in: .addPoints, reason: "points[\(index)]: \(error.detail)",
                    parameter: "points[\(index)]" + (error.member.map { ".\($0)" } ?? ""))
            }
        }
        return points
    }

    /// What is wrong with a point, and with which member.
    package struct Problem: Error, Hashable {
        /// Nil when the point as a whole is wrong.
        package let member: String?
        /// Names the value and the rule.
        package let detail: String
    }

    private static let members: Set<String> = [
        "time", "latitude", "longitude", "speed", "course", "altitude", "accuracy", "coord_type", "object_name",
        "attributes",
    ]

    /// Reads one point. A value that is absent or null is unknown.
    package static func point(_ value: JSONValue) throws(Problem) -> TrackPoint {
        guard let object = value.objectValue?.filter({ $0.value != .null }) else {
            throw Problem(member: nil, detail: "a point is an object with time, latitude and longitude")
        }
        if let unknown = object.keys.filter({ !members.contains($0) }).min() {
            throw Problem(member: unknown, detail: "a point has no member '\(unknown.prefix(64))'")
        }
        guard let time = object["time"]?.integerValue, time > 0 else {
            throw Problem(member: "time", detail: "time must be whole milliseconds since 1970, more than 0")
        }
        if let problem = TimeRule.problem(with: time) {
            throw Problem(member: "time", detail: "time \(time) \(problem)")
        }
        let latitude = try number("latitude", of: object, in: -90...90, "degrees")
        let longitude = try number("longitude", of: object, in: -180...180, "degrees")
        guard let latitude, let longitude, let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            throw Problem(
                member: latitude == nil ? "latitude" : "longitude", detail: "latitude and longitude are required")
        }
        var fix = Fix(time: Timestamp(milliseconds: time), coordinate: coordinate)
        fix.speed = try number("speed", of: object, in: 0...100_000, "m/s").map { Int32(($0 * 100).rounded()) }
        fix.course = try number("course", of: object, in: 0...360, "degrees").map {
            Int32(($0 * 10).rounded()) % 3600
        }
        fix.altitude = try number("altitude", of: object, in: -1_000_000...1_000_000, "m").map {
            Int32(($0 * 10).rounded())
        }
        fix.accuracy = try number("accuracy", of: object, in: 0...100_000_000, "m").map { Int32(($0 * 10).rounded()) }
        return TrackPoint(
            fix, coordinateType: try coordinateType(object["coord_type"]), objectName: try name(object["object_name"]),
            attributes: try attributes(object["attributes"]))
    }

    private static func number(
        _ member: String, of object: [String: JSONValue], in range: ClosedRange<Double>, _ unit: String
    ) throws(Problem) -> Double? {
        guard let value = object[member] else { return nil }
        guard let number = value.doubleValue, range.contains(number) else {
            throw Problem(
                member: member,
                detail: "\(member) \(value.description.prefix(64)) must be a number from \(Int(range.lowerBound)) to "
                    + "\(Int(range.upperBound)) \(unit)")
        }
        return number
    }

    private static func coordinateType(_ value: JSONValue?) throws(Problem) -> CoordinateType {
        guard let value else { return .wgs84 }
        guard let type = value.stringValue.flatMap(CoordinateType.init) else {
            throw Problem(
                member: "coord_type",
                detail: "coord_type \(value.description.prefix(64)) must be wgs84, gcj02 or bd09ll")
        }
        return type
    }

    private static func name(_ value: JSONValue?) throws(Problem) -> String? {
        guard let value else { return nil }
        guard let name = value.stringValue, name.utf8.count <= 128 else {
            throw Problem(member: "object_name", detail: "object_name must be a text of at most 128 bytes")
        }
        if let problem = NameRules.problem(with: name, "object_name") {
            throw Problem(member: "object_name", detail: problem)
        }
        return name
    }

    private static func attributes(_ value: JSONValue?) throws(Problem) -> [String: AttributeValue] {
        guard let value else { return [:] }
        guard let members = value.objectValue, members.count <= AttributeValue.maximumCount else {
            throw Problem(
                member: "attributes", detail: "attributes must be an object of at most \(AttributeValue.maximumCount)")
        }
        var attributes: [String: AttributeValue] = [:]
        for (key, value) in members {
            guard (1...AttributeValue.maximumKeyBytes).contains(key.utf8.count) else {
                throw Problem(
                    member: "attributes",
                    detail: "an attribute's key has 1 to \(AttributeValue.maximumKeyBytes) bytes, one has "
                        + "\(key.utf8.count)")
            }
            if let problem = NameRules.problem(with: key, "an attribute's key") {
                throw Problem(member: "attributes", detail: problem)
            }
            switch value {
            case .integer(let number): attributes[key] = .integer(number)
            case .double(let number) where number.isFinite: attributes[key] = .double(number)
            case .string(let text) where text.utf8.count <= AttributeValue.maximumStringBytes:
                attributes[key] = .string(text)
            case .null: continue
            case .double, .string, .bool, .array, .object:
                throw Problem(
                    member: "attributes",
                    detail: "attribute \(key) must be a number, or a text of at most "
                        + "\(AttributeValue.maximumStringBytes) bytes")
            }
        }
        return attributes
    }
}

/// Times of the control interface are milliseconds since 1970. A program that gives seconds means a time in January 1970, when
/// no satellite sent a time.
package enum TimeRule {
    /// Milliseconds: 1980-01-01, the year in which GPS time begins.
    private static let first: Int64 = 315_532_800_000

    /// Nil when a point can be of this time; otherwise the end of a sentence that begins with the value.
    package static func problem(with time: Int64) -> String? {
        guard time < first else { return nil }
        return looksLikeSeconds(time)
            ? "looks like seconds; milliseconds are wanted: \(time * 1000)"
            : "lies before 1980, and no point is so old: times are milliseconds since 1970"
    }

    /// Of the bound of a range: nil when it can be meant so. 0 and other early times stand for the beginning.
    static func problem(withBound time: Int64?) -> String? {
        guard let time, looksLikeSeconds(time) else { return nil }
        return "looks like seconds; milliseconds are wanted: \(time * 1000)"
    }

    /// As seconds it lies between 1980 and the end of unsigned 32-bit seconds (2106); as milliseconds, before 1980.
    private static func looksLikeSeconds(_ time: Int64) -> Bool { (first / 1000..<4_294_967_296).contains(time) }
}
