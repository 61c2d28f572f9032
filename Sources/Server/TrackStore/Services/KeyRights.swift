package import TrackModel

/// What a key opens, for how long, and for whom.
package struct KeyRights: Hashable, Sendable {
    package var scopes: KeyScopes
    /// From then on the key opens nothing; nil: it has no end.
    package var end: Timestamp?
    /// The addresses from which requests of the Web API may come; empty: any.
    package var addresses: [AddressRange]
    /// The pages that requests of the Web API may come from; empty: any, and none.
    package var referers: [RefererPattern]

    package init(
        _ scopes: KeyScopes, end: Timestamp? = nil, addresses: [AddressRange] = [], referers: [RefererPattern] = []
    ) {
        self.scopes = scopes
        self.end = end
        self.addresses = addresses
        self.referers = referers
    }

    /// Those of a key that was made before keys had scopes.
    package static let former = KeyRights(.former)

    package func hasEnded(at now: Timestamp) -> Bool { end.map { $0 <= now } ?? false }

    /// Whether a request from this address is right: see ``addresses``.
    package func admits(address: String?) -> Bool {
        guard !addresses.isEmpty else { return true }
        guard let address = address.flatMap({ AddressRange($0) }) else { return false }
        return addresses.contains { $0.contains(address) }
    }

    /// Whether a request with this `Referer` is right: see ``referers``.
    package func admits(referer: String?) -> Bool {
        guard !referers.isEmpty else { return true }
        guard let referer else { return referers.contains { $0.isAny } }
        return referers.contains { $0.matches(referer) }
    }
}
