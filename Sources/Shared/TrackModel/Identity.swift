/// A tenant's number: positive, fits in 31 bits because existing clients decode it as a 32-bit integer.
package struct ServiceID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: Int64

    package init?(rawValue: Int64) {
        guard (1...Int64(Int32.max)).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The identity of one sequence space: 128 random bits, chosen by the cache that numbers the points.
package struct StreamID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func random(using generator: inout some RandomNumberGenerator) -> StreamID {
        StreamID(high: generator.next(), low: generator.next())
    }

    /// Sixteen bytes, most significant first.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// Nil unless given exactly sixteen bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The name of one tracked thing inside a service: the rules, and what is wrong with a name that breaks one.
///
/// Two rules: an entity that is there already may have any name that ``problem(with:)`` lets pass, and goes on with it. A new
/// one needs a name with one spelling, see ``problem(withNew:)``. So no two names that people take for one come into being, and
/// names can be compared byte by byte.
package enum EntityName {
    /// Bytes of UTF-8.
    package static let maximumBytes = 128

    /// Nil when the name may be used; otherwise a sentence that names the rule.
    ///
    /// Refused: empty, over 128 bytes, control characters, a leading `#`, and `, ; | :`, which have a meaning in
    /// the Web API's filters and lists. Anything else is allowed, more than the published rule, because clients send it.
    package static func problem(with name: String) -> String? {
        if name.isEmpty { return "an entity name must not be empty" }
        if name.utf8.count > maximumBytes {
            return "an entity name has at most \(maximumBytes) bytes of UTF-8, this one has \(name.utf8.count)"
        }
        if name.utf8.first == UInt8(ascii: "#") { return "an entity name must not begin with '#'" }
        for scalar in name.unicodeScalars {
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                return "an entity name must not hold control characters"
            }
            if ",;|:".unicodeScalars.contains(scalar) { return "an entity name must not hold '\(scalar)'" }
        }
        return nil
    }

    /// Nil when an entity may get this name; otherwise a sentence that names the rule.
    ///
    /// Refused beside what ``problem(with:)`` refuses: white space at the ends, white space that is no plain space, characters
    /// that nobody sees, and a spelling that is not Unicode's normal form C.
    package static func problem(withNew name: String) -> String? {
        if let problem = problem(with: name) { return problem }
        if let problem = NameRules.problem(with: name, "a new entity name") { return problem }
        for scalar in name.unicodeScalars where scalar.properties.isWhitespace && scalar != " " {
            return
                "a new entity name must not hold white space but the plain space, and this one holds \(NameRules.code(scalar))"
        }
        var span = name.utf8Span
        guard span.checkForNFC(quickCheck: false) else {
            return
                "a new entity name is written in Unicode's normal form C, with é as one character, and this one is not: write it anew"
        }
        return nil
    }
}
