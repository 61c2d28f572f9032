/// Who opened a Unix socket connection, as the kernel recorded it when it was made.
package struct PeerCredentials: Hashable, Sendable {
    package let user: UInt32
    package let group: UInt32
    /// Supplementary groups; without those the kernel would not tell.
    package let supplementaryGroups: Set<UInt32>
    /// Of the process that connected, which may have passed the socket on or ended since.
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
