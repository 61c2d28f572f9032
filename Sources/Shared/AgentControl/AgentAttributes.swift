package import JSON
import Varlink

/// An attribute that no point carries, and the reason.
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

/// The reply of `SetAttributes`.
package struct SetAttributesReply: Codable, Hashable, Sendable {
    /// Keys, sorted.
    package var taken: [String]
    package var ignored: [IgnoredValue]
    /// False before the first login. The agent learns the service's columns at the login and judges the values then.
    package var judged: Bool

    package init(taken: [String], ignored: [IgnoredValue], judged: Bool) {
        self.taken = taken
        self.ignored = ignored
        self.judged = judged
    }
}

/// The reply of `ClearAttributes`.
package struct ClearAttributesReply: Codable, Hashable, Sendable {
    /// The keys that had a value, sorted.
    package var cleared: [String]

    package init(cleared: [String]) { self.cleared = cleared }
}

/// The reply of `GetAttributes`.
package struct AttributesReply: Codable, Hashable, Sendable {
    /// Sorted by key. Of one key the set value comes first, then the provided one, which replaces it.
    package var attributes: [AttributeReport]
    /// The service's track columns, sorted by key; nil until a login told them.
    package var columns: [ColumnReport]?
    /// In the order of their registration. A later provider's values replace those of an earlier one.
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
        /// Points carry the value until it is set again, cleared, or expired.
        case set
        /// A provider gave the value. It held for one point only.
        case provided
    }

    package var key: String
    /// An integer, a number or a string.
    package var value: JSONValue
    package var source: Source
    /// Seconds that a set value still holds. Nil for no limit.
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
    /// Points that carry values of this provider.
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
    /// The number of the point's request.
    package var request: Int64
    package var attributes: [String: JSONValue]

    package init(request: Int64, attributes: [String: JSONValue]) {
        self.request = request
        self.attributes = attributes
    }
}

/// The reply of `ProvideAttributes`: a point was gathered.
package struct ProvideAttributesReply: Codable, Hashable, Sendable {
    /// The program returns this number with the attributes within 200 ms.
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

/// One connection on which a program provides attributes. The agent tells it each gathered point; it gives values.
package struct AttributeProvision: Sendable {
    private let conversation: VarlinkConversation

    init(_ conversation: VarlinkConversation) {
        self.conversation = conversation
    }

    /// Gives the values of the last point (nil at the beginning). Returns at the next point, and may wait for ever.
    /// Throws as ``AgentControlClient``. After an ``AgentControlError`` it may be called again.
    package func next(_ answer: ProvidedAttributes?) async throws -> ProvideAttributesReply {
        var parameters: [String: JSONValue] = [:]
        if let answer {
            parameters = ["request": .integer(answer.request), "attributes": .object(answer.attributes)]
        }
        do {
            return try AgentControlClient.decode(
                try await conversation.call(
                    AgentControlClient.name(of: .provideAttributes), parameters, timeout: nil))
        } catch let error as VarlinkError {
            throw AgentControlClient.typed(error)
        }
    }

    package func close() { conversation.close() }
}
