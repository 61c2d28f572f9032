/// Answers of the engine that were asked for before: those used last, up to a number of bytes.
package struct RoadMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let bytes: Int
        var used: UInt64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var clock: UInt64 = 0

    /// Bytes of all values that are kept, about.
    package private(set) var bytes = 0

    package init(bytes limit: Int) { self.limit = limit }

    package mutating func value(_ key: Key) -> Value? {
        clock += 1
        entries[key]?.used = clock
        return entries[key]?.value
    }

    /// `bytes`: of the value, about.
    package mutating func remember(_ value: Value, _ key: Key, bytes size: Int) {
        forget(key)
        guard size <= limit else { return }
        clock += 1
        entries[key] = Entry(value: value, bytes: size, used: clock)
        bytes += size
        while bytes > limit, let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key { forget(oldest) }
    }

    private mutating func forget(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { bytes -= entry.bytes }
    }
}
