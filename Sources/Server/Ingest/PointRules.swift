package import TrackModel

/// The rules for points that the server stores. A refused point is lost, so there are only the rules that every point needs.
package enum PointRules {
    /// Longest object name, bytes of UTF-8.
    static let maximumObjectNameBytes = 128

    /// Nil when the server may store the point; otherwise a sentence that names the value and the rule. The type of the
    /// coordinates already keeps them in their range.
    ///
    /// `lead`: how many milliseconds ahead of the server's clock the point may be, the same for points of vehicles, of
    /// programs and of the Web API. `age`: how old it may be; nil: of any age. A program can correct a point and send it again.
    package static func problem(
        with point: TrackPoint, at now: Timestamp, lead: Int64, age: Int64? = nil
    ) -> String? {
        let time = point.fix.time
        if isAhead(time, of: now, by: lead) {
            return "time \(time.milliseconds) ms (\(time.second)) is more than \(lead / 1000) s ahead of the server's "
                + "clock (\(now.second))"
        }
        if let age, time < now.adding(milliseconds: -age) {
            return "time \(time.milliseconds) ms (\(time.second)) is more than \(age / 1000) s old"
        }
        return problem(with: point)
    }

    /// A receiver with a wrong date may be years ahead, and its place would hide the right ones: see
    /// docs/decisions/0005-dates-from-receivers.md.
    package static func isAhead(_ time: Timestamp, of now: Timestamp, by lead: Int64) -> Bool {
        time > now.adding(milliseconds: lead)
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
        if let name = point.objectName, name.hasHidden {
            return "object name holds a control, direction or invisible character: leave it out"
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
