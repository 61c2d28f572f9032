import JSON
import TrackModel

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
