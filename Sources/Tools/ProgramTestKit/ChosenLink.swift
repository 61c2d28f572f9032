/// Which link a run uses.
package enum ChosenLink: String, CaseIterable, Sendable {
    /// Namespaces where the machine has them, else a proxy.
    case auto
    case namespaces
    case proxy

    /// Throws when namespaces are asked for and refused.
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
