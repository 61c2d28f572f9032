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
    /// Default of ``maximumNameBytes``.
    package static let nameBytes = 1024
    /// Bytes of one number. A double that is written out whole has at most 1077 digits.
    package static let numberBytes = 1100

    /// Bytes of the text.
    package var maximumBytes: Int
    /// Arrays and objects inside each other.
    package var maximumDepth: Int
    /// Values in the text, arrays and objects included. Bounds the memory that a text of many tiny values takes.
    package var maximumValues: Int
    /// Bytes of UTF-8 of a member's name. A table finds a name by a form of its characters that costs the square of the name's
    /// length when somebody wants it to.
    package var maximumNameBytes: Int
    package var repeatedMembers: RepeatedMembers
    package var largeIntegers: LargeIntegers

    package init(
        maximumBytes: Int = 16 << 20, maximumDepth: Int = Self.depth, maximumValues: Int = Self.values,
        maximumNameBytes: Int = Self.nameBytes, repeatedMembers: RepeatedMembers = .refused,
        largeIntegers: LargeIntegers = .refused
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.maximumValues = maximumValues
        self.maximumNameBytes = maximumNameBytes
        self.repeatedMembers = repeatedMembers
        self.largeIntegers = largeIntegers
    }
}
