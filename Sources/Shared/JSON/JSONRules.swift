/// What a reader takes: its limits, and the two choices that RFC 8259 leaves to a reader.
package struct JSONRules: Hashable, Sendable {
    package enum RepeatedMembers: Hashable, Sendable {
        /// An object that names a member twice is an error: two readers would take different values.
        case refused
        /// The last member of a name counts.
        case lastCounts
    }

    package enum LargeIntegers: Hashable, Sendable {
        /// An integer beyond 64 bits is an error.
        case refused
        /// An integer beyond 64 bits becomes the nearest double.
        case doubles
    }

    /// Default of ``maximumDepth``.
    package static let depth = 64
    /// Default of ``maximumValues``.
    package static let values = 65_536

    /// Bytes of the text.
    package var maximumBytes: Int
    /// Arrays and objects inside each other.
    package var maximumDepth: Int
    /// Values in the text, arrays and objects included. Bounds the memory that a text of many tiny values takes.
    package var maximumValues: Int
    package var repeatedMembers: RepeatedMembers
    package var largeIntegers: LargeIntegers

    package init(
        maximumBytes: Int = 16 << 20, maximumDepth: Int = Self.depth, maximumValues: Int = Self.values,
        repeatedMembers: RepeatedMembers = .refused, largeIntegers: LargeIntegers = .refused
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
        self.repeatedMembers = repeatedMembers
        self.largeIntegers = largeIntegers
    }
}
