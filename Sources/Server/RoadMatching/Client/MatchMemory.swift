/// Matches of chunks that were asked for before: those used last, up to a number of bytes.
package struct MatchMemory: Sendable {
    private struct Entry {
        let match: ChunkMatch
        var used: UInt64
    }

    private let limit: Int
    private var entries: [MatchKey: Entry] = [:]
    private var clock: UInt64 = 0

    /// Bytes of all matches that are kept, about.
    package private(set) var bytes = 0

    package init(bytes limit: Int = 32 << 20) { self.limit = limit }

    package mutating func match(_ key: MatchKey) -> ChunkMatch? {
        clock += 1
        entries[key]?.used = clock
        return entries[key]?.match
    }

    package mutating func remember(_ match: ChunkMatch, _ key: MatchKey) {
        forget(key)
        guard match.bytes <= limit else { return }
        clock += 1
        entries[key] = Entry(match: match, used: clock)
        bytes += match.bytes
        while bytes > limit, let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key { forget(oldest) }
    }

    private mutating func forget(_ key: MatchKey) {
        if let entry = entries.removeValue(forKey: key) { bytes -= entry.match.bytes }
    }
}
