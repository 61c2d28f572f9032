package import LocalSocket

/// Decides who may change the agent. The mode of the socket file decides who may read.
package struct ControlPolicy: Hashable, Sendable {
    /// Members of this group may change the agent. When it is nil, only root and the agent's own user may.
    package var group: UInt32?
    /// The agent's own user. This user can change everything by other means anyway.
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
