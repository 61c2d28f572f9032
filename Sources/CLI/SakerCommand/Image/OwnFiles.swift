/// The files that the agent makes in a directory, by their names.
enum OwnFiles: Hashable {
    /// The ring of points that wait: docs/formats/track-cache.md.
    case cache
    /// Settings, fences, alarms and notes.
    case state

    private static let states = [
        "state.json", "computer.json", "alarms.journal", "fences.data", "server-fences.data", "refused-pin",
    ]

    /// Where they are when nothing says otherwise. Nobody else has files there.
    var directory: String {
        switch self {
        case .cache: "/var/lib/saker/cache"
        case .state: "/var/lib/saker"
        }
    }

    /// Whether a regular file of this name is the agent's.
    func contains(_ name: String) -> Bool {
        switch self {
        case .cache: name == "lock" || name == "acknowledged" || Self.isSegment(name)
        case .state: Self.states.contains { [$0, $0 + ".new", $0 + ".damaged"].contains(name) }
        }
    }

    /// Sixteen hexadecimal digits, and the end.
    private static func isSegment(_ name: String) -> Bool {
        let digits = name.utf8.prefix(16)
        guard digits.count == 16, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return false }
        return [".segment", ".segment.new"].contains(String(name.dropFirst(16)))
    }

    /// For people.
    var text: String {
        switch self {
        case .cache: "its files lock, acknowledged and *.segment"
        case .state: "its files " + Self.states.joined(separator: ", ")
        }
    }
}
