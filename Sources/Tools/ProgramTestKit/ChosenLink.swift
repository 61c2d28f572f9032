/// The link that a run uses.
package enum ChosenLink: String, CaseIterable, Sendable {
    /// Namespaces if the machine has them, otherwise a proxy.
    case auto
    case namespaces
    case proxy

    /// Throws when the caller wants namespaces and the machine refuses them.
    package func make(seed: UInt64) throws -> any VehicleLink {
        switch self {
        case .proxy: return try CuttingProxy(seed: seed)
        case .namespaces: return try PacketLink(seed: seed)
        case .auto:
            if NetworkNamespace.obstacle == nil { return try PacketLink(seed: seed) }
            return try CuttingProxy(seed: seed)
        }
    }
}
