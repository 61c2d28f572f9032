import JSON
import TrackModel
import TrackStore

/// One point as a client uploads it, from parameters or from a member of `point_list`.
struct UploadedPoint {
    /// Names of a point's fields, custom columns apart.
    static let fields = [
        "entity_name", "loc_time", "latitude", "longitude", "coord_type_input", "speed", "direction", "height",
        "radius",
        "object_name", FloorAttribute.key,
    ]

    /// Numbers may come as strings, and optional values as null or empty.
    private let field: (String) -> JSONValue?

    init(_ parameters: Parameters) {
        field = { parameters[$0].map(JSONValue.string) }
    }

    init(_ object: JSONValue) {
        field = {
            switch object[$0] {
            case nil, .null, .string(""): nil
            case let value: value
            }
        }
    }

    func entityName() throws(APIFailure) -> String {
        guard let name = try text("entity_name") else { throw Self.parameter("entity_name is required") }
        if let problem = EntityName.problem(with: name) { throw Self.parameter("entity_name: \(problem)") }
        return name
    }

    /// `columns`: the service's track columns; other fields that are not known are ignored.
    func point(
        now: Timestamp, options: WebAPIOptions, columns: [ColumnRecord] = []
    ) throws(APIFailure) -> TrackPoint {
        guard let latitude = try number("latitude") else { throw Self.parameter("latitude is required") }
        guard let longitude = try number("longitude") else { throw Self.parameter("longitude is required") }
        guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            throw Self.parameter("latitude must be -90...90 and longitude -180...180")
        }
        var fix = Fix(time: try time(now: now, options: options), coordinate: coordinate)
        if let speed = try known("speed") {
            guard let stored = Speed.centimetresPerSecond(speed) else {
                throw Self.parameter("speed must be 0 or more km/h")
            }
            fix.speed = stored
        }
        if let direction = try known("direction") {
            guard (0...360).contains(direction) else { throw Self.parameter("direction must be 0...359") }
            // The fraction is cut off, and north is 0.
            fix.course = Int32(direction) % 360 * 10
        }
        fix.altitude = try tenths("height", in: -1_000_000...1_000_000)
        fix.accuracy = try tenths("radius", in: 0...100_000_000)
        let objectName = try text("object_name")
        if let objectName, objectName.utf8.count > 128 { throw Self.parameter("object_name has at most 128 bytes") }
        if let objectName, let problem = NameRules.problem(with: objectName, "object_name") {
            throw Self.parameter(problem)
        }
        return TrackPoint(
            fix, coordinateType: try coordinateType(), objectName: objectName, attributes: try attributes(columns))
    }

    private func attributes(_ columns: [ColumnRecord]) throws(APIFailure) -> [String: AttributeValue] {
        var attributes: [String: AttributeValue] = [:]
        if let floor = try floor() { attributes[FloorAttribute.key] = .string(floor) }
        for column in columns where column.key != FloorAttribute.key {
            let key = column.key
            let value: AttributeValue?
            switch column.type {
            case .integer: value = try integer(key).map(AttributeValue.integer)
            case .double: value = try number(key).map(AttributeValue.double)
            case .string: value = try text(key).map(AttributeValue.string)
            }
            guard let value else { continue }
            if let problem = AttributeValue.problem(key: key, value: value) { throw Self.parameter(problem) }
            attributes[key] = value
        }
        return attributes
    }

    /// Clients have it as a text or as a number.
    private func floor() throws(APIFailure) -> String? {
        let value: AttributeValue
        switch field(FloorAttribute.key) {
        case nil, .string(""): return nil
        case .string(let text):
            if let problem = ParameterLengths.problem(
                with: text, of: FloorAttribute.key, most: FloorAttribute.maximumBytes)
            {
                throw Self.parameter(problem)
            }
            value = .string(text)
        case .integer(let number): value = .integer(number)
        case .double(let number): value = .double(number)
        default: throw Self.parameter("floor must be a text, such as 2 or B1")
        }
        guard let name = FloorAttribute.name(value) else {
            throw Self.parameter("floor has at most \(FloorAttribute.maximumBytes) bytes of UTF-8")
        }
        return name
    }

    private func integer(_ key: String) throws(APIFailure) -> Int64? {
        switch field(key) {
        case nil: return nil
        case .integer(let value): return value
        case .string(let text):
            if let problem = ParameterLengths.problem(with: text, of: key, most: ParameterLengths.word) {
                throw Self.parameter(problem)
            }
            let text = Parameters.trimmed(text)
            if text.isEmpty { return nil }
            if let value = Int64(text) { return value }
            throw Self.parameter("\(key) must be a whole number")
        default: throw Self.parameter("\(key) must be a whole number")
        }
    }

    private func coordinateType() throws(APIFailure) -> CoordinateType {
        guard let name = try text("coord_type_input") else { return .bd09ll }
        guard let type = CoordinateType(parsing: name) else {
            throw Self.parameter("coord_type_input must be wgs84, gcj02 or bd09ll")
        }
        return type
    }

    private func time(now: Timestamp, options: WebAPIOptions) throws(APIFailure) -> Timestamp {
        guard let value = try number("loc_time") else { throw Self.parameter("loc_time is required") }
        guard let seconds = Int64(exactly: value.rounded(.down)), seconds > 0 else {
            throw Self.parameter("loc_time must be a Unix time in seconds")
        }
        let (age, overflow) = now.seconds.subtractingReportingOverflow(seconds)
        guard !overflow, age >= -options.futureTolerance else {
            throw APIFailure(.timeInFuture, "loc_time is in the future")
        }
        if let maximum = options.maximumAge, age > maximum {
            throw Self.parameter("loc_time is older than \(maximum) s")
        }
        return Timestamp(seconds: seconds)
    }

    private func tenths(_ key: String, in range: ClosedRange<Double>) throws(APIFailure) -> Int32? {
        guard let value = try known(key) else { return nil }
        guard range.contains(value) else {
            throw Self.parameter("\(key) must be \(Int(range.lowerBound))...\(Int(range.upperBound)) m")
        }
        return Int32((value * 10).rounded())
    }

    /// Nil also for -1, by which phones say that they do not know.
    private func known(_ key: String) throws(APIFailure) -> Double? {
        try number(key).flatMap { $0 == -1 ? nil : $0 }
    }

    private func number(_ key: String) throws(APIFailure) -> Double? {
        switch field(key) {
        case nil: return nil
        case .integer(let value): return Double(value)
        case .double(let value): return value
        case .string(let text):
            if let problem = ParameterLengths.problem(with: text, of: key, most: ParameterLengths.word) {
                throw Self.parameter(problem)
            }
            let text = Parameters.trimmed(text)
            if text.isEmpty { return nil }
            if let value = Double(decimal: text) { return value }
            throw Self.parameter("\(key) must be a number")
        default: throw Self.parameter("\(key) must be a number")
        }
    }

    /// A number where a text belongs is taken by its digits: clients name entities 17.
    private func text(_ key: String) throws(APIFailure) -> String? {
        switch field(key) {
        case nil: return nil
        case .string(let text):
            // Of a point in a list: its fields are parameters too.
            let most = ParameterLengths.most(of: key) ?? ParameterLengths.column
            if let problem = ParameterLengths.problem(with: text, of: key, most: most) {
                throw Self.parameter(problem)
            }
            return text
        case .integer(let value): return String(value)
        default: throw Self.parameter("\(key) must be a string")
        }
    }

    private static func parameter(_ detail: String) -> APIFailure { APIFailure(.parameter, detail) }

    // MARK: Echo of a refused point

    /// Members for the fields of a refused point and its error: only what clients' models can read.
    func writeEcho(error: String, to object: inout JSONWriter) {
        for key in ["entity_name", "object_name"] {
            if let text = try? text(key) { object.member(key, text) }
        }
        if let floor = try? floor() { object.member(FloorAttribute.key, floor) }
        if let value = try? number("loc_time"), let seconds = Int64(exactly: value.rounded(.down)) {
            object.member("loc_time", seconds)
        }
        for key in ["latitude", "longitude", "speed", "height", "radius"] {
            if let value = try? number(key) { object.member(key, value) }
        }
        if let value = try? number("direction"), let whole = Int64(exactly: value.rounded(.towardZero)) {
            object.member("direction", whole)
        }
        if let name = try? text("coord_type_input"), let type = CoordinateType(parsing: name) {
            object.member("coord_type_input", type.rawValue)
        }
        object.member("error", error)
    }
}
