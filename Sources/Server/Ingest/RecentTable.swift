/// A table that forgets what was not used for long: about `capacity` values stay.
struct RecentTable<Key: Hashable, Value> {
    private let half: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    init(capacity: Int) {
        half = max(1, capacity / 2)
    }

    /// Reading counts as use.
    subscript(key: Key) -> Value? {
        mutating get {
            if let value = young[key] { return value }
            guard let value = old.removeValue(forKey: key) else { return nil }
            keep(value, for: key)
            return value
        }
        set {
            old[key] = nil
            if let newValue { keep(newValue, for: key) } else { young[key] = nil }
        }
    }

    private mutating func keep(_ value: Value, for key: Key) {
        if young.count >= half, young[key] == nil { (old, young) = (young, [:]) }
        young[key] = value
    }
}
