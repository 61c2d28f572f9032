package import TrackModel

/// A floor, as a number made of its name. Floors are only compared: equal names have equal codes, and two different names
/// have the same code with a probability of 5e-20.
package struct FloorCode: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Nil for an empty name: the floor is not known.
    package init?(name: String) {
        guard !name.isEmpty else { return nil }
        rawValue = SHA256.hash(Array(name.utf8)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Nil: the point does not say on which floor it is.
    package init?(of point: TrackPoint) {
        guard !point.attributes.isEmpty, let value = point.attributes[FloorAttribute.key],
            let name = FloorAttribute.name(value)
        else { return nil }
        self.init(name: name)
    }
}
