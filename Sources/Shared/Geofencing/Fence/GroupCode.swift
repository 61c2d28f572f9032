/// A group of fences, as a number made of its name and of who is watched: fences with the same name and watch are one more
/// thing with alarms of its own.
package struct GroupCode: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// `watch` tells one watch from another, for example an entity's name or `#allentity`.
    package init(name: String, watch: String) {
        let bytes = Array(name.utf8) + [0] + Array(watch.utf8)
        rawValue = SHA256.hash(bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
