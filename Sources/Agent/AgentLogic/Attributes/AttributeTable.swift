package import TrackModel

/// The custom attributes that programs on the vehicle have set, judged by the service's columns. The next point carries
/// them.
///
/// Before the columns are known, the table keeps every value and points carry it. ``learn(_:)`` judges the values later.
///
/// The floor (``FloorAttribute``) needs no column. An older server tells no column for it and drops it: then points go without
/// the floor, because vehicle and server must judge server fences by the same points.
package struct AttributeTable: Hashable, Sendable {
    private struct Held: Hashable {
        var value: AttributeValue
        /// Nil: the value holds until it is cleared.
        var expires: MonotonicTime?

        func isAlive(_ now: MonotonicTime) -> Bool { expires.map { now < $0 } ?? true }
    }

    /// One value that points carry now.
    package struct SetValue: Hashable, Sendable {
        package let key: String
        package let value: AttributeValue
        /// Milliseconds that the value still holds; nil for no limit.
        package let remaining: Int64?
    }

    /// The most bytes of keys and texts in a point. A record of the cache may have far more.
    package static let maximumBytes = 32_768

    /// The service's columns by key; nil before a login has told them.
    package private(set) var columns: [String: AttributeType]?
    private var held: [String: Held] = [:]

    /// `columns`: the columns that an earlier login told; nil when there was none.
    package init(columns: [AttributeColumn]? = nil) {
        self.columns = columns.map(Self.byKey)
    }

    /// The columns in the order of their keys; nil before a login has told them.
    package var columnList: [AttributeColumn]? {
        columns.map { $0.sorted { $0.key < $1.key }.map { AttributeColumn(key: $0.key, type: $0.value) } }
    }

    // MARK: Columns

    /// A login has told the columns. Drops the values that fit no column, and returns them.
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

    /// The known columns belong to another service. No columns are known until the next login. Values stay.
    package mutating func forgetColumns() {
        columns = nil
    }

    // MARK: Values

    /// Sets values. They hold until they are set again, are cleared, or until `expires` (monotonic clock; nil for no
    /// limit). Returns the values that were not taken; an earlier value of such a key stays.
    package mutating func set(
        _ values: [String: AttributeValue], expires: MonotonicTime? = nil, now: MonotonicTime
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

    /// Forgets the values of these keys, nil for all. Returns the keys that had a value, sorted.
    package mutating func clear(_ keys: [String]? = nil, now: MonotonicTime) -> [String] {
        removeExpired(now: now)
        let gone = Set(keys ?? Array(held.keys)).filter { held[$0] != nil }.sorted()
        for key in gone { held[key] = nil }
        return gone
    }

    /// The values that are set, sorted by key.
    package func values(now: MonotonicTime) -> [SetValue] {
        held.filter { $0.value.isAlive(now) }.sorted { $0.key < $1.key }.map { key, kept in
            SetValue(key: key, value: kept.value, remaining: kept.expires.map { $0 - now })
        }
    }

    /// The attributes of a point: the values that are set, replaced by the values of providers; a later provider wins
    /// over an earlier one. `provided` was judged by ``judge(_:)``. The result is always within a point's limits.
    package func attributes(provided: [[String: AttributeValue]] = [], now: MonotonicTime) -> [String: AttributeValue] {
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
        for (key, value) in answered.sorted(by: { $0.key < $1.key }) where isSent(key, value) { add(key, value) }
        for (key, kept) in held.sorted(by: { $0.key < $1.key })
        where answered[key] == nil && kept.isAlive(now) && isSent(key, kept.value) {
            add(key, kept.value)
        }
        return result
    }

    private func isSent(_ key: String, _ value: AttributeValue) -> Bool {
        guard key == FloorAttribute.key else { return true }
        // An empty one says that the floor is not known.
        return value != .string("") && columns.map { $0[key] != nil } ?? true
    }

    /// The floor on which the vehicle is, whatever the server takes. Nil: nobody has said it. `provided`: as in
    /// ``attributes(provided:now:)``.
    package func floor(provided: [[String: AttributeValue]] = [], now: MonotonicTime) -> String? {
        let key = FloorAttribute.key
        let value = provided.last { $0[key] != nil }?[key] ?? held[key].flatMap { $0.isAlive(now) ? $0.value : nil }
        return value.flatMap(FloorAttribute.name)
    }

    /// Sorts values into those that points may carry, in the form of their columns, and those to ignore.
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

    /// The attributes of custom points by the same rules. What has the wrong type is left out, because the server never shows it.
    /// What is no column that the vehicle knows stays: a column may have come since the login. Each key and reason is told once.
    package func judge(_ points: [TrackPoint]) -> (points: [TrackPoint], ignored: [IgnoredAttribute]) {
        var told: Set<IgnoredAttribute> = []
        let judged = points.map { point in
            guard !point.attributes.isEmpty else { return point }
            var point = point
            let (taken, ignored) = judge(point.attributes)
            let unknown = Set(ignored.filter { $0.reason == .unknownKey }.map(\.key))
            point.attributes = taken.merging(point.attributes.filter { unknown.contains($0.key) }) { kept, _ in kept }
            told.formUnion(ignored)
            return point
        }
        return (judged, told.sorted { ($0.key, $0.detail) < ($1.key, $1.detail) })
    }

    // MARK: Inside

    private struct Refusal: Error {
        let attribute: IgnoredAttribute

        init(_ key: String, _ reason: IgnoredAttribute.Reason, _ detail: String) {
            attribute = IgnoredAttribute(key, reason, detail)
        }
    }

    private func judge(_ key: String, _ value: AttributeValue) -> Result<AttributeValue, Refusal> {
        let problem =
            AttributeValue.problem(key: key, value: value) ?? NameRules.problem(with: key, "an attribute's key")
        if let problem {
            return .failure(Refusal(key, .invalid, problem))
        }
        if key == FloorAttribute.key { return judgeFloor(value) }
        guard let columns else { return .success(value) }
        guard let type = columns[key] else {
            return .failure(
                Refusal(
                    key, .unknownKey,
                    "the service had no track column of this key at the last login: add it at the server, then: saker reconnect"
                ))
        }
        guard let converted = type.converted(value) else {
            return .failure(Refusal(key, .wrongType, "the column is of type \(type.rawValue): give such a value"))
        }
        return .success(converted)
    }

    private func judgeFloor(_ value: AttributeValue) -> Result<AttributeValue, Refusal> {
        // It says that the floor is not known, also when another program knows one.
        if value == .string("") { return .success(value) }
        guard let name = FloorAttribute.name(value) else {
            return .failure(
                Refusal(
                    FloorAttribute.key, .invalid,
                    "the name of a floor has at most \(FloorAttribute.maximumBytes) bytes: give a shorter one"))
        }
        return .success(.string(name))
    }

    private mutating func removeExpired(now: MonotonicTime) {
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
        // A service has no more, with the floor behind them, and this keeps the state file small.
        Dictionary(columns.prefix(AttributeValue.maximumCount + 1).map { ($0.key, $0.type) }) { _, last in last }
    }
}

/// An attribute that points do not carry, and why.
package struct IgnoredAttribute: Hashable, Sendable {
    /// The raw values are names for the control interface.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The service has no column of this key.
        case unknownKey = "unknown_key"
        /// The column is of another type.
        case wrongType = "wrong_type"
        /// The key or the value breaks a rule for all attributes.
        case invalid
        /// The attributes are more or longer than a point may carry.
        case tooMany = "too_many"
    }

    package let key: String
    package let reason: Reason
    /// A sentence with the rule and what to do.
    package let detail: String

    package init(_ key: String, _ reason: Reason, _ detail: String) {
        self.key = key
        self.reason = reason
        self.detail = detail
    }
}
