import ConfigurationFile
import DirectoryAccess
import Glibc
import Synchronization

/// The user as whom a command works.
///
/// The configuration and the store may lie in directories of the server's user. Whoever is that user chooses what stands there:
/// SQLite follows a link in the place of the store, and makes files beside it. So a command of root gives up root's rights and works
/// as the owner of these directories, before it opens anything that the configuration names.
package enum WorkingUser {
    /// What a command needs of the files that the configuration names.
    package enum Need: Sendable {
        /// The store, and what lies beside it.
        case store
        /// Only files beside the configuration, such as certificates, which may be root's while the store is the server's.
        case certificates
    }

    /// Who called a command that gave up root's rights.
    private static let former = Mutex<uid_t?>(nil)
    static var caller: uid_t { former.withLock { $0 } ?? geteuid() }

    /// What a person must know who called a command as root and reads that a file may not be read; empty otherwise.
    package static func remark(on failure: String) -> String {
        guard former.withLock({ $0 }) != nil, failure.contains("denied") || failure.contains("may not") else {
            return ""
        }
        return " (This command of root worked as the user \(name(geteuid())), whose the server's files are.)"
    }

    /// For another user than root nothing changes.
    ///
    /// - Throws: `.configuration` when a directory is reached by a link that another user can change, `.usage` when the rights cannot be
    ///   given up.
    package static func take(
        for need: Need, _ configuration: ServerConfiguration
    ) throws(ServerError) {
        guard geteuid() == 0 else { return }
        var paths = [configuration.effective.path]
        if need == .store { paths.append(configuration.store.path) }
        for path in paths {
            guard let owner = try owner(of: DirectoryHandle.parts(of: path).directory) else { continue }
            return try become(owner)
        }
    }

    @Sendable package static func takeForStore(_ configuration: ServerConfiguration) throws(ServerError) {
        try take(for: .store, configuration)
    }

    /// Works in a directory of another user with no more rights than its owner, and has root's again afterwards. For the whole process:
    /// no other thread may need root's rights meanwhile.
    static func withRights<Result>(
        of directory: borrowing DirectoryHandle, _ body: () throws(ServerError) -> Result
    ) throws(ServerError) -> Result {
        guard geteuid() == 0, let owner = directory.status.map({ (user: $0.owner, group: $0.group) }), owner.user != 0
        else { return try body() }
        var groups = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        let (count, group) = (getgroups(CInt(groups.count), &groups), getegid())
        guard count >= 0, setgroups(1, [owner.group]) == 0, setegid(owner.group) == 0, seteuid(owner.user) == 0 else {
            let reason = String(cString: strerror(errno))
            _ = (seteuid(0), setegid(group), setgroups(Int(max(count, 0)), groups))
            throw ServerError(
                .usage,
                "\(directory.path) can be changed by the user \(name(owner.user)), and this command of root cannot become that user: "
                    + "\(reason). Call it so: sudo -u \(name(owner.user)) saker-server …")
        }
        // The user first: only root may set the others.
        defer { _ = (seteuid(0), setegid(group), setgroups(Int(count), groups)) }
        return try body()
    }

    /// The user who decides what is in a directory; nil: root alone.
    private static func owner(of directory: String) throws(ServerError) -> (user: UInt32, group: UInt32)? {
        var place = directory
        while true {
            do throws(FileTrouble) {
                let handle = try DirectoryHandle(place)
                guard let status = handle.status else { return nil }
                if status.owner != 0 { return (status.owner, status.group) }
                guard let user = handle.others.first(where: { $0 != DirectoryHandle.anybody }) else { return nil }
                return (user, getpwuid(user)?.pointee.pw_gid ?? gid_t(user))
            } catch {
                // Of a directory that is not there, its parent's owner decides what will be there.
                guard error.isAbsence, place != "/", place != "." else {
                    throw ServerError(.configuration, "\(error.path) is not used by root: \(error.reason)")
                }
                place = DirectoryHandle.parts(of: place).directory
            }
        }
    }

    private static func become(_ owner: (user: UInt32, group: UInt32)) throws(ServerError) {
        let record = getpwuid(owner.user)
        let group = record?.pointee.pw_gid ?? owner.group
        let hasGroups = record.map { initgroups($0.pointee.pw_name, group) == 0 } ?? (setgroups(1, [group]) == 0)
        guard hasGroups, setgid(group) == 0, setuid(owner.user) == 0 else {
            throw ServerError(
                .usage,
                "the files of this server belong to the user \(name(owner.user)), and this command of root cannot become that user: "
                    + "\(String(cString: strerror(errno))). Call it so: sudo -u \(name(owner.user)) saker-server …")
        }
        former.withLock { $0 = 0 }
    }

    static func name(_ user: uid_t) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "#\(user)"
    }
}
