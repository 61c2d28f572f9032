import FenceFiles
import Geofencing
import JSON
import TrackModel
import TrackStore

/// The parameters of one call, from query and body together.
struct Parameters: Sendable {
    private var values: [ExactName: String] = [:]

    init() {}

    /// Repeats of a key are joined with commas; an empty value counts as not given.
    init(_ pairs: some Sequence<(key: String, value: String)>) {
        // Joined once: a request may repeat a key thousands of times.
        var repeats: [ExactName: [String]] = [:]
        for (key, value) in pairs where !value.isEmpty {
            let name = ExactName(key)
            guard let first = values.updateValue(value, forKey: name) else { continue }
            values[name] = first
            repeats[name, default: [first]].append(value)
        }
        for (name, all) in repeats { values[name] = all.joined(separator: ",") }
    }

    /// The parameters of the other win.
    mutating func merge(_ other: Parameters) {
        values.merge(other.values) { _, new in new }
    }

    /// The parameters of these names, and their parts.
    func only(_ names: [String]) -> Parameters {
        var some = Parameters()
        for name in names { some[name] = self[name] }
        for (key, value) in values where TextParts.contains(key.text, "[") {
            let name = key.text.utf8.prefix { $0 != UInt8(ascii: "[") }
            if names.contains(where: { name.elementsEqual($0.utf8) }) { some.values[key] = value }
        }
        return some
    }

    /// Nil when not given or empty.
    subscript(key: String) -> String? {
        get { values[ExactName(key)] }
        set { values[ExactName(key)] = newValue?.isEmpty == true ? nil : newValue }
    }

    /// Whether a part of this parameter is given in the way of forms, as `key[0]` or `key[]`.
    func hasParts(of key: String) -> Bool { values.keys.contains { TextParts.begins($0.text, with: key + "[") } }

    // MARK: Typed

    func required(_ key: String) throws(APIFailure) -> String {
        guard let value = self[key] else { throw APIFailure(.parameter, "\(key) is required") }
        return value
    }

    /// White space around the number does no harm.
    func integer(_ key: String) throws(APIFailure) -> Int64? {
        guard let text = self[key] else { return nil }
        guard let value = Int64(Self.trimmed(text)) else {
            throw APIFailure(.parameter, "\(key) must be a whole number")
        }
        return value
    }

    func requiredInteger(_ key: String) throws(APIFailure) -> Int64 {
        guard let value = try integer(key) else { throw APIFailure(.parameter, "\(key) is required") }
        return value
    }

    func double(_ key: String) throws(APIFailure) -> Double? {
        guard let text = self[key] else { return nil }
        guard let value = Double(decimal: Self.trimmed(text)) else {
            throw APIFailure(.parameter, "\(key) must be a number")
        }
        return value
    }

    /// 0 and 1, and the words for them; not given is false.
    func flag(_ key: String) throws(APIFailure) -> Bool {
        switch self[key].map({ Self.trimmed($0).lowercased() }) {
        case nil, "0", "false": return false
        case "1", "true": return true
        default: throw APIFailure(.parameter, "\(key) must be 0 or 1")
        }
    }

    /// A page that is zero, negative or no number is the default; a size over the maximum is the maximum.
    func page(defaultSize: Int, maximumSize: Int) -> (index: Int, size: Int) {
        func number(_ key: String) -> Int? {
            self[key].flatMap { Int(Self.trimmed($0)) }.flatMap { $0 > 0 ? $0 : nil }
        }
        return (min(number("page_index") ?? 1, 1 << 21 - 1), min(number("page_size") ?? defaultSize, maximumSize))
    }

    static func trimmed(_ text: some StringProtocol) -> String { TextParts.trimmed(text) }
}

/// How long the values of parameters may be, in bytes of UTF-8. A value is measured before anything reads it: what a client may
/// send in one request, 8 MiB, is more than any of these texts has.
///
/// docs/web-api-parameters.md tells each bound; a test compares the two.
enum ParameterLengths {
    /// A number, a flag or a word, with white space around it.
    static let word = 64
    /// Keys of columns have no more.
    static let name = AttributeValue.maximumKeyBytes
    /// The value of a column.
    static let column = AttributeValue.maximumStringBytes

    /// By the name of the parameter, whatever the call.
    private static let table: [String: Int] = {
        var table = [
            // Of every call.
            "ak": 1024, "sn": word, "mcode": 256, "service_id": word, "callback": word,
            // Names and texts.
            "entity_name": EntityName.maximumBytes, "entity_desc": 128, "object_name": 128,
            FloorAttribute.key: FloorAttribute.maximumBytes, "fence_name": FenceDefinition.mostNameBytes,
            "column_key": name, "column_desc": 128, "query": SearchLimits.mostKeywordBytes,
            "keyword": DistrictNames.mostBytes, "url": 1024,
            // Lists. A name and its comma; a number of ten digits with a sign, a comma and some white space.
            "monitored_person": FenceLimits.mostPersons * (EntityName.maximumBytes + 32),
            "fence_ids": FenceLimits.mostFences * 16,
            "filter": EntityFilter.maximumNames * (EntityName.maximumBytes + 1) + 16_384,
            "vertexes": FenceLimits.mostGivenVertices * 64, "bounds": 256, "center": 128, "sortby": 256,
            "process_option": 1024, "point_list": APIRouter.maximumBodyBytes,
        ]
        let words = [
            "loc_time", "latitude", "longitude", "coord_type_input", "coord_type_output", "coord_type", "speed",
            "direction", "height", "radius", "page_index", "page_size", "return_type", "start_time", "end_time",
            "is_processed", "supplement_mode", "supplement_content", "low_speed_threshold", "sort_type", "explain",
            "gap_content", "stay_time", "stay_radius", "speeding_threshold", "harsh_acceleration_threshold",
            "harsh_breaking_threshold", "harsh_steering_threshold", "denoise", "offset", "fence_id", "include_stale",
            "alarm_source", "job_id", TrackRange.long, "time_range", "is_search", "column_type",
        ]
        for name in words { table[name] = word }
        return table
    }()

    /// Nil for a name that no call knows.
    static func most(of name: String) -> Int? { table[name] }

    /// Says what is wrong with a value that is too long; nil when it is not.
    static func problem(with value: String, of name: String, most: Int) -> String? {
        let bytes = value.utf8.count
        guard bytes > most else { return nil }
        return "\(name) has \(bytes) bytes, and \(most) are the most: send a shorter value"
    }

    /// Throws when a value among those with these names is too long.
    static func check(_ names: some Sequence<String>, of parameters: Parameters) throws(APIFailure) {
        for name in names {
            guard let value = parameters[name], let most = most(of: name) else { continue }
            if let problem = problem(with: value, of: name, most: most) { throw APIFailure(.parameter, problem) }
        }
    }
}

/// Texts of clients, cut by bytes and by Unicode's scalars. What Swift calls a character may be as long as the whole text, and
/// to compare two of them costs the square of their length.
enum TextParts {
    /// The parts between the separators, which are ASCII characters. Empty ones are left out, unless `keepsEmpty`. At most
    /// `most` cuts.
    static func split(
        _ text: some StringProtocol, at separators: Unicode.Scalar..., most: Int = .max, keepsEmpty: Bool = false
    ) -> [Substring] {
        let bytes = separators.map { UInt8(ascii: $0) }
        return Substring(text).utf8.split(maxSplits: most, omittingEmptySubsequences: !keepsEmpty) {
            bytes.contains($0)
        }.map { Substring($0) }
    }

    /// Without the white space at both ends.
    static func trimmed(_ text: some StringProtocol) -> String {
        var scalars = Substring(text).unicodeScalars
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        return String(Substring(scalars))
    }

    static func isBlank(_ text: some StringProtocol) -> Bool {
        Substring(text).unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }

    static func contains(_ text: some StringProtocol, _ scalar: Unicode.Scalar) -> Bool {
        text.utf8.contains(UInt8(ascii: scalar))
    }

    static func begins(_ text: some StringProtocol, with prefix: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

    /// The same bytes.
    static func isSame(_ left: some StringProtocol, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}

extension CoordinateType {
    /// A datum as clients name it: in any case, or by the number that it had in earlier versions of the API.
    init?(parsing text: String) {
        switch Parameters.trimmed(text).lowercased() {
        case "1": self = .wgs84
        case "2": self = .gcj02
        case "3": self = .bd09ll
        case let name: self.init(rawValue: name)
        }
    }
}
