package import AgentControl
package import JSON
internal import Terminal
internal import TrackFiles
internal import TrackModel

/// Reads the points of a file one after the other, in the agent's form. What is no point is left out and counted; only what is
/// wrong with the whole of the file is an error, which names it.
package struct PointFile {
    package struct Point {
        package let place: String
        package let value: JSONValue

        package init(place: String, value: JSONValue) {
            (self.place, self.value) = (place, value)
        }
    }

    /// What of a file is no point.
    package struct LeftOut {
        /// So many are told one by one.
        private static let mostTold = 10

        package fileprivate(set) var count: Int64 = 0
        private var told: [String] = []

        fileprivate mutating func add(_ place: String, _ reason: String) {
            count += 1
            if told.count < Self.mostTold { told.append("\(place): \(reason)") }
        }

        /// Sentences for standard error.
        package func lines(_ path: String) -> [String] {
            let rest = count - Int64(told.count)
            let more = rest > 0 ? ["\(path.printable): and \(Quantity.count(rest, "place")) more like these"] : []
            return told.map { "\(path): \($0)".printable } + more
        }

        /// The first of them, behind a message.
        package var first: String { told.first.map { ": \($0)" } ?? "" }
    }

    /// Why a row is no point.
    private struct Failure: Error {
        let reason: String
    }

    /// The first GPS satellites' time: no receiver has seen an earlier one.
    private static let earliest: Int64 = 315_964_800_000

    private let path: String
    private let times: PointFileRules
    /// The attributes that are read; nil: all.
    private let attributes: Set<String>?
    /// The attributes that are texts where the format has no types.
    private let texts: Set<String>
    private let zone: FileZone
    private var reader: TrackFileReader
    package private(set) var leftOut = LeftOut()
    private var unknownHeights = 0
    private var firstHeight = ""
    /// The first time of a clock whose zone the file does not say.
    private var firstWall: Int64?

    package init(
        _ path: String, times: PointFileRules = PointFileRules(), attributes: Set<String>? = nil,
        texts: Set<String> = [FloorAttribute.key]
    ) throws(FenceCommandFailure) {
        self.path = path
        self.times = times
        self.attributes = attributes
        self.texts = texts
        do throws(TrackFileError) {
            reader = try TrackFileReader(path: path, encoding: times.encoding)
        } catch {
            throw Self.failure(path, error.description)
        }
        zone = times.zone ?? (reader.kind == .csv ? .local : .utc)
    }

    /// For people, behind the last point: what was done without a question.
    package var notes: [String] {
        var notes = reader.notes
        if let firstWall {
            let other = times.zone == nil ? "; for another zone give --time-zone" : ""
            notes.append("times without a zone are read as those of \(zone.text(at: firstWall))\(other)")
        }
        if unknownHeights > 0 {
            let count = Quantity.count(Int64(unknownHeights), "height is", "heights are")
            notes.append("\(count) no height that can be, and unknown: the first, \(firstHeight)")
        }
        return notes.map { "\(path): \($0)".printable }
    }

    /// The next point, nil after the last. Skips planned routes, because they have no times, and the corners of roads in an
    /// export, because the vehicle made no points there.
    package mutating func next() throws(FenceCommandFailure) -> Point? {
        while true {
            let point: FilePoint?
            do throws(TrackFileError) {
                point = try reader.next()
            } catch {
                throw Self.failure(path, error.description)
            }
            guard let point else { return nil }
            if point.isPlanned || point.attributes["_supplement"] != nil { continue }
            do throws(Failure) {
                return Point(place: point.place, value: try value(of: point))
            } catch {
                leftOut.add(point.place, error.reason)
            }
        }
    }

    private mutating func value(of point: FilePoint) throws(Failure) -> JSONValue {
        if let problem = point.problem { throw Failure(reason: problem) }
        var members: [String: JSONValue] = [:]
        // In one order, so that the first reason is the same each time.
        for field in FilePoint.Field.allCases {
            guard let text = point.fields[field] else { continue }
            switch field {
            case .time: members[field.rawValue] = .integer(try time(text))
            case .altitude: members[field.rawValue] = height(text, point.place)
            case .latitude, .longitude: members[field.rawValue] = .double(try number(text, field))
            case .speed, .course, .accuracy:
                // -1 is how telephones say that they do not know.
                guard !FileNumber.isUnknown(text), FileNumber.value(text) != -1 else { continue }
                members[field.rawValue] = .double(try number(text, field))
            case .objectName: members[field.rawValue] = .string(text)
            }
        }
        guard members["time"] != nil else {
            throw Failure(reason: "the point has no time: only points with a time count")
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
            throw Failure(reason: error.detail)
        }
        return value
    }

    private func number(_ text: String, _ field: FilePoint.Field) throws(Failure) -> Double {
        guard let number = FileNumber.value(text) else {
            throw Failure(reason: "\(field.rawValue) '\(text.shortened)' is no number")
        }
        return number
    }

    /// Nil for what is no height that can be: the place is as good without it.
    private mutating func height(_ text: String, _ place: String) -> JSONValue? {
        if let height = FileNumber.height(text) { return .double(height) }
        guard !FileNumber.isUnknown(text) else { return nil }
        if unknownHeights == 0 { firstHeight = "\(place): '\(text.shortened)'" }
        unknownHeights += 1
        return nil
    }

    private mutating func time(_ text: String) throws(Failure) -> Int64 {
        let milliseconds: Int64
        do {
            switch try FileTime(text, times.format) {
            case .instant(let time): milliseconds = time
            case .wall(let wall):
                milliseconds = try zone.milliseconds(wall)
                firstWall = firstWall ?? wall
            }
        } catch let error as FileZone.Failure {
            throw Failure(reason: "time '\(text.shortened)': \(error.reason)")
        } catch {
            throw Failure(reason: "time '\(text.shortened)' \(Self.reason(error as? FileTime.Failure))")
        }
        guard milliseconds >= Self.earliest else {
            throw Failure(
                reason:
                    "time '\(text.shortened)' lies before GPS began, in 1980: say with --time-format how times are written"
            )
        }
        return milliseconds
    }

    private static func reason(_ failure: FileTime.Failure?) -> String {
        switch failure {
        case .ambiguous:
            "may be several times: say which with --time-format, as in s, ms, us, YYMMDDhhmmss, DDMMYYhhmmss or YYYYMMDDhhmmss"
        case .dayAlone: "is a day without a time of the day"
        case .format: "is not as --time-format says"
        case .noTime, nil:
            "is no time: write it as in 2026-03-05T08:20:12Z, or say with --time-format how times are written"
        }
    }

    /// A text of GeoJSON stays one, also when it looks like a number: a column of texts would refuse the number. In quotes, as an
    /// export writes it, it is one in every format.
    private func attribute(_ key: String, _ text: String, of point: FilePoint) -> JSONValue {
        let value = AttributeText.value(text, type: nil)
        return value.stringValue == nil && (point.texts ?? texts).contains(key) ? .string(text) : value
    }

    /// What an export says of roads is no attribute of a point: no track column has such a name.
    private static func isOwn(_ key: String) -> Bool { key != "road_name" && !key.hasPrefix("_") }

    private static func failure(_ path: String, _ detail: String) -> FenceCommandFailure {
        FenceCommandFailure(.failed, "\(path): \(detail)".printable)
    }
}

/// Reads attributes from the arguments, and tells which ones the agent ignored.
package enum AttributeText {
    /// Nil unless `text` is `key=value` with a key.
    package static func pair(_ text: String) -> (key: String, text: String)? {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// Reads the value as the column's type (`int`, `double`, `string`). What does not fit stays text.
    ///
    /// Nil: by its look, a whole number, a number or a text; quotes around it make it a text.
    package static func value(_ text: String, type: String?) -> JSONValue {
        switch type {
        case "string": .string(text)
        case "int": Int64(text).map(JSONValue.integer) ?? .string(text)
        case "double": number(text) ?? .string(text)
        default: Int64(text).map(JSONValue.integer) ?? number(text) ?? .string(unquoted(text))
        }
    }

    /// The same for a key. A floor is a text, whatever it looks like: 02 is another one than 2.
    package static func value(_ text: String, of key: String, type: String? = nil) -> JSONValue {
        key == FloorAttribute.key ? .string(unquoted(text)) : value(text, type: type)
    }

    private static func number(_ text: String) -> JSONValue? {
        Double(decimal: text).map(JSONValue.double)
    }

    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }

    package static func ignored(_ values: [IgnoredValue]) -> [String] {
        values.map { "\($0.key) is ignored: \($0.detail)".printable }
    }
}
