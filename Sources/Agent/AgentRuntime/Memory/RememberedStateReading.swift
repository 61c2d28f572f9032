/// What was found of the remembered state.
package enum RememberedStateReading: Hashable, Sendable {
    case absent
    case read(RememberedState)
    /// Not understood: put aside under this name, and the agent starts from its configuration.
    case putAside(String)
    case unreadable(String)

    /// What an operator should know of it, a sentence.
    var trouble: String? {
        switch self {
        case .absent, .read: nil
        case .putAside(let path): "what was remembered was damaged and is put aside as \(path)"
        case .unreadable(let reason): "what was remembered cannot be read: \(reason)"
        }
    }
}
