import Glibc

/// How many files, and so how many connections, this process may have open.
enum FileLimit {
    /// What the store, the listeners and the web clients' answers take besides connections.
    static let ownFiles = 64

    /// Raises the soft limit to the hard one, which any process may; returns what holds from now on.
    ///
    /// Shells and systemd start programs with a soft limit of 1,024, for the sake of `select(2)`, which nothing here
    /// uses.
    static func raise() -> UInt64 {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        guard limit.rlim_cur < limit.rlim_max else { return UInt64(limit.rlim_cur) }
        let former = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return UInt64(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : former)
    }
}
