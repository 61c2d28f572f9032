package import TrackModel

/// The custom attributes that programs on the box have set, judged by the service's columns: what the next point carries.
///
/// Knows no clock: `now` is milliseconds of a monotonic one. Until the columns were ever learnt every value is kept and
/// travels; ``learn(_:)`` judges them then.
package struct AttributeBoard: Hashable, Sendable {
    private struct Held: Hashable {
        var value: AttributeValue
        /// Nil: until it is cleared.
        var expires: Int64?

        func isAlive(_ now: Int64) -> Bool { expires.map { now < $0 } ?? true }
    }

    /// One value that points carry now.
    package struct SetValue: Hashable, Sendable {
        package let key: String
        package let value: AttributeValue
        /// Milliseconds that it still has; nil for no limit.
        package let remaining: Int64?
    }

    /// Bytes of keys and texts that a point carries at most: far less than a record of the cache may have.
    package static let maximumBytes = 32_768

    /// The service's columns by key; nil until a login told them.
    package private(set) var columns: [String: AttributeType]?
    private var held: [String: Held] = [:]

    /// `columns`: as an earlier login told them; nil when none did.
    package init(columns: [AttributeColumn]? = nil) {
        self.columns = columns.map(Self.byKey)
    }

    /// The columns in the order of their keys; nil until a login told them.
    package var columnList: [AttributeColumn]? {
        columns.map { $0.sorted { $0.key < $1.key }.map { AttributeColumn(key: $0.key, type: $0.value) } }
    }

    // MARK: Columns

    /// A login told the columns. Values that fit none are dropped, and returned.
    package mutating func learn(_ columns: [AttributeColumn]) -> [IgnoredAttribute] {
        self.columns = Self.byKey(columns)
        var ignored: [IgnoredAttribute] = []
        for (key, kept) in held.sorted(by: { $0.key < $1.key }) {
            switch judge(key, kept.value) {
            case .success(let value): held[key]?.value = value
            case .failure(let refusal):
                held[key] = nil
                ignored.append(refusal.attribute)
            }
        }
        return ignored
    }

    /// The columns in force are another service's: nothing is known until the next login. Values stay.
    package mutating func forgetColumns() {
        columns = nil
    }

    // MARK: Values

    /// Sets values until they are set again, cleared, or `expires` (the monotonic clock; nil for no limit) has come.
    /// Returns what was not taken; an earlier value of such a key stays.
    package mutating func set(
        _ values: [String: AttributeValue], expires: Int64? = nil, now: Int64
    ) -> [IgnoredAttribute] {
        removeExpired(now: now)
        let (taken, refused) = judge(values)
        var ignored = refused
        for (key, value) in taken.sorted(by: { $0.key < $1.key }) {
            let before = held.updateValue(Held(value: value, expires: expires), forKey: key)
            guard held.count > AttributeValue.maximumCount || bytes > Self.maximumBytes else { continue }
            held[key] = before
            ignored.append(Self.tooMany(key))
        }
        return ignored.sorted { $0.key < $1.key }
    }

    /// Forgets values, nil for all; returns the keys that had one, sorted.
    package mutating func clear(_ keys: [String]? = nil, now: Int64) -> [String] {
        removeExpired(now: now)
        let gone = Set(keys ?? Array(held.keys)).filter { held[$0] != nil }.sorted()
        for key in gone { held[key] = nil }
        return gone
    }

    /// The values that are set, sorted by key.
    package func values(now: Int64) -> [SetValue] {
        held.filter { $0.value.isAlive(now) }.sorted { $0.key < $1.key }.map { key, kept in
            SetValue(key: key, value: kept.value, remaining: kept.expires.map { $0 - now })
        }
    }

    /// What a point carries: the values that are set, with what providers answered over them, a later one over an
    /// earlier. `provided` was judged by ``judge(_:)``. Always within what a point may carry.
    package func attributes(provided: [[String: AttributeValue]] = [], now: Int64) -> [String: AttributeValue] {
        if held.isEmpty, provided.isEmpty { return [:] }
        let answered = provided.reduce(into: [:]) { all, values in all.merge(values) { _, later in later } }
        var result: [String: AttributeValue] = [:]
        var room = Self.maximumBytes
        func add(_ key: String, _ value: AttributeValue) {
            let cost = Self.bytes(key, value)
            guard result.count < AttributeValue.maximumCount, cost <= room else { return }
            room -= cost
            result[key] = value
        }
        for (key, value) in answered.sorted(by: { $0.key < $1.key }) { add(key, value) }
        for (key, kept) in held.sorted(by: { $0.key < $1.key }) where answered[key] == nil && kept.isAlive(now) {
            add(key, kept.value)
        }
        return result
    }

    /// Sorts values into those that points may carry, as their columns keep them, and those that are ignored.
    package func judge(
        _ values: [String: AttributeValue]
    ) -> (taken: [String: AttributeValue], ignored: [IgnoredAttribute]) {
        var taken: [String: AttributeValue] = [:]
        var ignored: [IgnoredAttribute] = []
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            switch judge(key, value) {
            case .success(let value): taken[key] = value
            case .failure(let refusal): ignored.append(refusal.attribute)
            }
        }
        return (taken, ignored)
    }

    // MARK: Inside

    private struct Refusal: Error {
        let attribute: IgnoredAttribute

        init(_ key: String, _ reason: IgnoredAttribute.Reason, _ detail: String) {
            attribute = IgnoredAttribute(key, reason, detail)
        }
    }

    private func judge(_ key: String, _ value: AttributeValue) -> Result<AttributeValue, Refusal> {
        if let problem = AttributeValue.problem(key: key, value: value) {
            return .failure(Refusal(key, .invalid, problem))
        }
        guard let columns else { return .success(value) }
        guard let type = columns[key] else {
            return .failure(
                Refusal(key, .unknownKey, "the service has no track column of this key: add it at the server first"))
        }
        guard let converted = type.converted(value) else {
            return .failure(Refusal(key, .wrongType, "the column is of type \(type.rawValue): give such a value"))
        }
        return .success(converted)
    }

    private mutating func removeExpired(now: Int64) {
        held = held.filter { $0.value.isAlive(now) }
    }

    private var bytes: Int { held.reduce(0) { $0 + Self.bytes($1.key, $1.value.value) } }

    private static func bytes(_ key: String, _ value: AttributeValue) -> Int {
        guard case .string(let text) = value else { return key.utf8.count + 16 }
        return key.utf8.count + text.utf8.count + 8
    }

    private static func tooMany(_ key: String) -> IgnoredAttribute {
        IgnoredAttribute(
            key, .tooMany,
            "a point carries at most \(AttributeValue.maximumCount) attributes of \(maximumBytes) bytes together: "
                + "clear others first")
    }

    private static func byKey(_ columns: [AttributeColumn]) -> [String: AttributeType] {
        // No point carries more; what is remembered of them stays small.
        Dictionary(columns.prefix(AttributeValue.maximumCount).map { ($0.key, $0.type) }) { _, last in last }
    }
}
