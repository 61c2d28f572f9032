import TrackStore

/// Notices several computers with the certificate of one device where ``CloneWatch`` cannot: when one of them does not say which
/// start of its computer it is, as old agents do, and agents that somebody has changed.
///
/// One agent has one stream, and one connection at a time. When its network changes, its last connection stays open for a
/// while and is silent. So two sessions from two addresses are two computers when the older one still speaks, and three or more
/// are not one agent's in any case. It is no proof, so nobody is turned away for it: the operator is told.
enum TwinRules {
    struct Session: Hashable {
        let number: UInt64
        let address: String
        /// Which start of its computer the agent has named; nil: none.
        let start: [UInt8]?
    }

    /// The address of another computer; nil: nothing speaks for one. `sessions`: the open ones of a device, each with a stream of
    /// its own. `speaking`: the number of a session that has just been heard, or has just begun.
    static func other(of speaking: UInt64, among sessions: [Session]) -> String? {
        guard let own = sessions.first(where: { $0.number == speaking }) else { return nil }
        let others = sessions.filter { $0.address != own.address && ($0.start == nil || own.start == nil) }
        // Numbers ascend with the logins.
        if let newer = others.first(where: { $0.number > speaking }) { return newer.address }
        return sessions.count > 2 ? others.first?.address : nil
    }
}
