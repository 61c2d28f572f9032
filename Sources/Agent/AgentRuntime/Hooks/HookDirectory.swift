internal import Glibc

/// The executables that run on events, and why some of them do not. Touches the disk.
struct HookDirectory: Sendable {
    let path: String
    /// The user who may own hooks, besides root.
    let user: UInt32

    struct Listing: Hashable, Sendable {
        /// Names, sorted by their bytes.
        var hooks: [String] = []
        /// Sentences: what is refused and what to do.
        var refusals: [String] = []
    }

    /// The most hooks that run for one event.
    static let maximumHooks = 32

    /// A directory that is not there has no hooks; one that others than its owner may write is not used at all.
    func list() -> Listing {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return Listing() }
            return Listing(refusals: ["\(path) cannot be read: \(String(cString: strerror(errno)))"])
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return Listing(refusals: ["\(path) is no directory: no hook is run"])
        }
        if let problem = danger(status, path) { return Listing(refusals: ["\(problem); no hook is run"]) }
        guard let handle = opendir(path) else {
            return Listing(refusals: ["\(path) cannot be read: \(String(cString: strerror(errno)))"])
        }
        defer { closedir(handle) }
        var listing = Listing()
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            guard !name.hasPrefix("."), !name.hasSuffix("~") else { continue }
            consider(name, &listing)
        }
        listing.hooks.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        listing.refusals.sort()
        if listing.hooks.count > Self.maximumHooks {
            listing.refusals.append(
                "\(path) holds \(listing.hooks.count) hooks: only the first \(Self.maximumHooks) are run")
            listing.hooks.removeLast(listing.hooks.count - Self.maximumHooks)
        }
        return listing
    }

    private func consider(_ name: String, _ listing: inout Listing) {
        let file = "\(path)/\(name)"
        var status = stat()
        guard lstat(file, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK:
            listing.refusals.append(
                "\(file) is a symbolic link and is not run: put the program itself there, or a script that calls it")
            return
        default: return
        }
        // A file without the right to be executed is a note, or a hook that somebody has turned off.
        guard status.st_mode & 0o111 != 0 else { return }
        if let problem = danger(status, file) {
            listing.refusals.append("\(problem); it is not run")
        } else {
            listing.hooks.append(name)
        }
    }

    /// Whoever can change a hook can do everything that the agent can do.
    private func danger(_ status: stat, _ path: String) -> String? {
        guard status.st_uid == 0 || status.st_uid == user else {
            return "\(path) belongs to user \(status.st_uid): make it root's (chown root \(path))"
        }
        guard status.st_mode & 0o022 == 0 else {
            return "\(path) can be changed by others than its owner: chmod go-w \(path)"
        }
        return nil
    }
}
