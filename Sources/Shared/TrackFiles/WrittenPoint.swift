package import JSON

/// One point of a track that is written to a file. WGS 84; values of unknown numbers are nil.
package struct WrittenPoint: Hashable, Sendable {
    /// Milliseconds since 1970.
    package var time: Int64
    /// Degrees.
    package var latitude: Double
    package var longitude: Double
    /// Metres above mean sea level.
    package var altitude: Double?
    /// Metres per second.
    package var speed: Double?
    /// Degrees from true north.
    package var course: Double?
    /// Horizontal error, metres.
    package var accuracy: Double?
    package var objectName: String?
    /// Texts and numbers.
    package var attributes: [String: JSONValue]

    package init(
        time: Int64, latitude: Double, longitude: Double, altitude: Double? = nil, speed: Double? = nil,
        course: Double? = nil, accuracy: Double? = nil, objectName: String? = nil,
        attributes: [String: JSONValue] = [:]
    ) {
        (self.time, self.latitude, self.longitude, self.altitude) = (time, latitude, longitude, altitude)
        (self.speed, self.course, self.accuracy, self.objectName) = (speed, course, accuracy, objectName)
        self.attributes = attributes
    }

    /// What a file says beside time and place, by the names of ``FilePoint/Field`` and of the attributes.
    var values: [String: JSONValue] {
        var values = attributes
        for (field, number) in [(FilePoint.Field.speed, speed), (.course, course), (.accuracy, accuracy)] {
            if let number { values[field.rawValue] = .double((number * 1000).rounded() / 1000) }
        }
        if let objectName { values[FilePoint.Field.objectName.rawValue] = .string(objectName) }
        return values
    }
}

/// Times, numbers and texts as files of tracks have them.
enum FileText {
    /// 1e-7 degree is 1 cm.
    static func degrees(_ value: Double) -> String { decimal(value, 7) }

    /// Without an exponent, and without zeros at the end; at most so many decimals. A number that is none is 0.
    static func decimal(_ value: Double, _ places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        guard let scaled = Int64(exactly: (value * scale).rounded()) else { return "0" }
        var digits = String(scaled.magnitude)
        digits = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        var fraction = digits.suffix(places)
        while fraction.last == "0" { fraction.removeLast() }
        return (scaled < 0 ? "-" : "") + digits.dropLast(places) + (fraction.isEmpty ? "" : "." + fraction)
    }

    /// `2026-03-05T08:20:12Z`, with milliseconds when there are any.
    static func time(_ milliseconds: Int64) -> String {
        let (days, left) = floored(milliseconds, 86_400_000)
        // Days since 0000-03-01 in eras of 400 years (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
        let (era, day) = floored(days + 719_468, 146_097)
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let date = [
            padded(year + era * 400 + (month <= 2 ? 1 : 0), 4), padded(month, 2),
            padded(dayOfYear - (153 * shifted + 2) / 5 + 1, 2),
        ].joined(separator: "-")
        let seconds = left / 1000
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(clock)" + (left % 1000 > 0 ? ".\(padded(left % 1000, 3))" : "") + "Z"
    }

    private static func floored(_ number: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// A text between the tags and in the attributes of XML. What may not stand there becomes `?`.
    static func xml(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\u{9}", "\u{A}", "\u{D}": result += "&#\(scalar.value);"
            default:
                let isAllowed = scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                result.unicodeScalars.append(isAllowed ? scalar : "?")
            }
        }
        return result
    }

    /// A value without the quotes of JSON.
    static func plain(_ value: JSONValue) -> String { value.stringValue ?? value.description }
}

/// A time without points, for a file. Only GeoJSON has a place for it: a feature without a geometry (RFC 7946, 3.2).
package struct WrittenGap: Hashable, Sendable {
    /// Milliseconds since 1970.
    package var from: Int64
    package var until: Int64
    /// By the names of the Web API.
    package var reason: String
    package var detail: String?
    package var lostPoints: Int64?

    package init(from: Int64, until: Int64, reason: String, detail: String? = nil, lostPoints: Int64? = nil) {
        (self.from, self.until, self.reason) = (from, until, reason)
        (self.detail, self.lostPoints) = (detail, lostPoints)
    }
}

/// What a file says of the roads of its track: whether it is on roads, and whose map they are of.
package struct WrittenRoads: Hashable, Sendable {
    /// A sentence for people.
    package var text: String
    /// By the names of the Web API: `used`, `partly`, `none`, `off`, `unavailable`.
    package var state: String
    /// The share of the points on roads, 0 to 1; nil when there are none.
    package var matched: Double?
    /// Whoever shows the track must show this text.
    package var attribution: String?

    package init(text: String, state: String, matched: Double? = nil, attribution: String? = nil) {
        (self.text, self.state, self.matched, self.attribution) = (text, state, matched, attribution)
    }

    /// The member `roads` of the Web API.
    var json: String {
        var json = JSONWriter()
        json.object { roads in
            roads.member("state", state)
            if let matched {
                roads.name("matched")
                roads.rounded(matched, digits: 3)
            }
            if let attribution { roads.member("attribution", attribution) }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
