/// Who opened a connection to a local socket, as the kernel recorded it when the connection was made.
package struct PeerCredentials: Hashable, Sendable {
    package let user: UInt32
    package let group: UInt32
    /// Supplementary groups, as far as the kernel tells them.
    package let supplementaryGroups: Set<UInt32>
    /// The process that connected. That process may have ended since, or passed the connection on.
    package let process: Int32

    package init(user: UInt32, group: UInt32, supplementaryGroups: Set<UInt32> = [], process: Int32) {
        self.user = user
        self.group = group
        self.supplementaryGroups = supplementaryGroups
        self.process = process
    }

    package func isMember(of group: UInt32) -> Bool {
        self.group == group || supplementaryGroups.contains(group)
    }
}
