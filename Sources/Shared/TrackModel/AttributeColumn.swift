/// What the values of a custom column are. The raw values are the names that people and programs use.
package enum AttributeType: String, Hashable, Sendable, CaseIterable {
    /// 64 bits.
    case integer = "int"
    /// Finite.
    case double
    /// UTF-8.
    case string

    /// The value as a column of this type keeps it; nil when it is of another type. An integer may stand for a double,
    /// nothing else is converted.
    package func converted(_ value: AttributeValue) -> AttributeValue? {
        switch (self, value) {
        case (.integer, .integer), (.double, .double), (.string, .string): value
        case (.double, .integer(let number)): .double(Double(number))
        case (.integer, .double), (.integer, .string), (.double, .string), (.string, .integer), (.string, .double): nil
        }
    }
}

/// A custom attribute that a service keeps with its points.
package struct AttributeColumn: Hashable, Sendable {
    /// 1 to ``AttributeValue/maximumKeyBytes`` bytes of UTF-8.
    package var key: String
    package var type: AttributeType

    package init(key: String, type: AttributeType) {
        self.key = key
        self.type = type
    }
}

/// Which attributes the points of a service keep, and in which form: those of its track columns, and the floor.
package struct AttributeSchema: Hashable, Sendable {
    /// Of the track columns, by key.
    package let types: [String: AttributeType]

    package init(_ columns: some Sequence<AttributeColumn> = []) {
        types = Dictionary(columns.map { ($0.key, $0.type) }) { _, last in last }
    }

    /// The value as points keep it under a key; nil: no column has the key, or the column is of another type.
    package func kept(_ value: AttributeValue, under key: String) -> AttributeValue? {
        key == FloorAttribute.key
            ? FloorAttribute.name(value).map(AttributeValue.string) : types[key]?.converted(value)
    }
}

extension AttributeValue {
    /// What is wrong with an attribute whatever its column, a sentence; nil when it may travel in a point.
    package static func problem(key: String, value: AttributeValue) -> String? {
        guard !key.isEmpty, key.utf8.count <= maximumKeyBytes else {
            return "an attribute key has 1 to \(maximumKeyBytes) bytes, this one \(key.utf8.count)"
        }
        switch value {
        case .integer: return nil
        case .double(let number):
            guard number.isFinite else { return "attribute \(key): a double must be finite" }
        case .string(let text):
            guard text.utf8.count <= maximumStringBytes else {
                return "attribute \(key): a text has at most \(maximumStringBytes) bytes"
            }
        }
        return nil
    }
}

/// The attribute `floor`: on which floor of a building the entity is. Every service keeps it, without a track column of its
/// own. A fence with a floor is judged by it.
package enum FloorAttribute {
    package static let key = "floor"
    /// The longest floor, bytes of UTF-8: that of a fence.
    package static let maximumBytes = 128

    /// The name of the floor. A number is the text of its digits: 2 and 2.0 are "2". Nil: the value is empty, so the floor is
    /// not known, or it is too long.
    package static func name(_ value: AttributeValue) -> String? {
        switch value {
        case .integer(let number): return String(number)
        case .double(let number): return Int64(exactly: number).map(String.init) ?? String(number)
        case .string(let text): return (1...maximumBytes).contains(text.utf8.count) ? text : nil
        }
    }
}
