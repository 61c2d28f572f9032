package import TrackModel

/// The rules for points that the server stores. A refused point is lost, so there are only the rules that every point needs.
package enum PointRules {
    /// How far ahead of the server's clock a point may be, milliseconds: 20 years.
    ///
    /// After a GPS week rollover a receiver may date a whole drive 1,024 weeks (19.6 years) ahead. A receiver without dates
    /// may be a day ahead. Somebody can correct a wrong date later, but a refused point is lost: see
    /// docs/decisions/0005-dates-from-receivers.md.
    static let maximumLead: Int64 = 20 * 365 * 86_400_000
    /// Longest object name, bytes of UTF-8.
    static let maximumObjectNameBytes = 128

    /// Nil when the server may store the point; otherwise a sentence that names the value and the rule. The type of the
    /// coordinates already keeps them in their range.
    package static func problem(with point: TrackPoint, at now: Timestamp) -> String? {
        let time = point.fix.time
        guard time <= now.adding(milliseconds: maximumLead) else {
            return "time \(time.milliseconds) ms is more than 20 years ahead of the server's \(now.milliseconds) ms"
        }
        return problem(with: point)
    }

    /// The same as ``problem(with:at:)`` for a custom point. Its time follows the rules of the Web API, because the program
    /// can correct the point and send it again. `lead` and `age` are milliseconds; `age` is nil for points of any age.
    package static func problem(
        withCustom point: TrackPoint, at now: Timestamp, lead: Int64, age: Int64?
    ) -> String? {
        let time = point.fix.time
        guard time <= now.adding(milliseconds: lead) else {
            return "time \(time.milliseconds) ms is more than \(lead / 1000) s ahead of the server's "
                + "\(now.milliseconds) ms"
        }
        if let age, time < now.adding(milliseconds: -age) {
            return "time \(time.milliseconds) ms is more than \(age / 1000) s old"
        }
        return problem(with: point)
    }

    /// The rules that need no clock.
    private static func problem(with point: TrackPoint) -> String? {
        let fix = point.fix
        let time = fix.time.milliseconds
        guard time > 0 else { return "time \(time) ms must be after 1970" }
        if let speed = fix.speed, speed < 0 { return "speed \(speed) cm/s must not be negative" }
        if let course = fix.course, !(0..<3600).contains(course) {
            return "course \(course) must be within 0 ..< 3600 tenths of a degree"
        }
        if let accuracy = fix.accuracy, accuracy < 0 { return "accuracy \(accuracy) dm must not be negative" }
        if let name = point.objectName, name.utf8.count > maximumObjectNameBytes {
            return "object name has \(name.utf8.count) bytes, at most \(maximumObjectNameBytes) are allowed"
        }
        return point.attributes.isEmpty ? nil : problem(with: point.attributes)
    }

    private static func problem(with attributes: [String: AttributeValue]) -> String? {
        guard attributes.count <= AttributeValue.maximumCount else {
            return "\(attributes.count) attributes, at most \(AttributeValue.maximumCount) are allowed"
        }
        for (key, value) in attributes {
            if let problem = AttributeValue.problem(key: key, value: value) { return problem }
        }
        return nil
    }
}
