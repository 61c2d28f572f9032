package import LocalSocket

/// Who may change the agent. Who may read is the socket file's mode.
package struct ControlPolicy: Hashable, Sendable {
    /// Members of this group may change; nil leaves it to root and the agent's own user.
    package var group: UInt32?
    /// The agent's own user, who could change everything by other means anyway.
    package var user: UInt32?

    package init(group: UInt32?, user: UInt32? = nil) {
        self.group = group
        self.user = user
    }

    package func mayChange(_ peer: PeerCredentials) -> Bool {
        if peer.user == 0 || peer.user == user { return true }
        return group.map(peer.isMember(of:)) ?? false
    }
}
