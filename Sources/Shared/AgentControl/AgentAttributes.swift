package import JSON

/// An attribute that points will not carry, and why.
package struct IgnoredValue: Codable, Hashable, Sendable {
    package var key: String
    /// `unknown_key`, `wrong_type`, `invalid` or `too_many`; others may come.
    package var reason: String
    /// A sentence.
    package var detail: String

    package init(key: String, reason: String, detail: String) {
        self.key = key
        self.reason = reason
        self.detail = detail
    }
}

/// What became of `SetAttributes`.
package struct SetAttributesReply: Codable, Hashable, Sendable {
    /// Keys, sorted.
    package var taken: [String]
    package var ignored: [IgnoredValue]
    /// False while no login has told the service's columns: what was taken is judged then.
    package var judged: Bool

    package init(taken: [String], ignored: [IgnoredValue], judged: Bool) {
        self.taken = taken
        self.ignored = ignored
        self.judged = judged
    }
}

/// What became of `ClearAttributes`.
package struct ClearAttributesReply: Codable, Hashable, Sendable {
    /// The keys that had a value, sorted.
    package var cleared: [String]

    package init(cleared: [String]) { self.cleared = cleared }
}

/// The attributes as they are: the reply of `GetAttributes`.
package struct AttributesReply: Codable, Hashable, Sendable {
    /// Sorted by key; of one key the provided value, which wins, comes after the one that is set.
    package var attributes: [AttributeReport]
    /// The service's track columns, sorted by key; nil until a login told them.
    package var columns: [ColumnReport]?
    /// In the order of their registration: a later one's values win.
    package var providers: [ProviderReport]

    package init(attributes: [AttributeReport], columns: [ColumnReport]?, providers: [ProviderReport]) {
        self.attributes = attributes
        self.columns = columns
        self.providers = providers
    }
}

/// One value.
package struct AttributeReport: Codable, Hashable, Sendable {
    package enum Source: String, Codable, Hashable, Sendable, CaseIterable {
        /// Points carry it until it is set again, cleared, or its time is over.
        case set
        /// A provider gave it last; it counted for that point alone.
        case provided
    }

    package var key: String
    /// An integer, a number or a string.
    package var value: JSONValue
    package var source: Source
    /// Seconds that a value that is set still has; nil for no limit.
    package var ttl: Double?
    /// Seconds since a provider gave it.
    package var age: Double?

    package init(key: String, value: JSONValue, source: Source, ttl: Double? = nil, age: Double? = nil) {
        self.key = key
        self.value = value
        self.source = source
        self.ttl = ttl
        self.age = age
    }
}

/// A track column.
package struct ColumnReport: Codable, Hashable, Sendable {
    package var key: String
    /// `int`, `double` or `string`.
    package var type: String

    package init(key: String, type: String) {
        self.key = key
        self.type = type
    }
}

/// A program that provides attributes.
package struct ProviderReport: Codable, Hashable, Sendable {
    /// Process of its connection.
    package var process: Int64
    /// Points that carry what it gave.
    package var answered: Int64
    /// Answers that came too late.
    package var late: Int64

    package init(process: Int64, answered: Int64, late: Int64) {
        self.process = process
        self.answered = answered
        self.late = late
    }
}

/// What a provider gives for a point.
package struct ProvidedAttributes: Hashable, Sendable {
    /// The number with which the point was told.
    package var request: Int64
    package var attributes: [String: JSONValue]

    package init(request: Int64, attributes: [String: JSONValue]) {
        self.request = request
        self.attributes = attributes
    }
}

/// A point was gathered: the reply of `ProvideAttributes`.
package struct ProvideAttributesReply: Codable, Hashable, Sendable {
    /// To be given back with the attributes, within 200 ms.
    package var request: Int64
    /// GNSS time of the point, milliseconds since 1970.
    package var time: Int64
    /// The attributes that came with the call were too late for their point.
    package var late: Bool
    /// Of the attributes that came with the call.
    package var ignored: [IgnoredValue]

    package init(request: Int64, time: Int64, late: Bool, ignored: [IgnoredValue]) {
        self.request = request
        self.time = time
        self.late = late
        self.ignored = ignored
    }
}

/// Attributes in the status.
package struct AttributesStatus: Codable, Hashable, Sendable {
    /// Values that are set.
    package var set: Int64
    /// Programs that provide values.
    package var providers: Int64
    /// The service's track columns; nil until a login told them.
    package var columns: Int64?

    package init(set: Int64, providers: Int64, columns: Int64?) {
        self.set = set
        self.providers = providers
        self.columns = columns
    }
}
