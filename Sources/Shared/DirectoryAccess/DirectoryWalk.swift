internal import Glibc

/// Opens a path part by part. The kernel follows no link: each is read, and followed where it may be.
enum DirectoryWalk {
    /// O_PATH, which the module of the C library leaves out: search permission is enough for a directory on the way.
    private static let pathOnly: Int32 = 0o10_000_000
    static let flags = pathOnly | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
    static let mostLinks = 40

    private struct Place {
        let descriptor: Int32
        let path: String
        let others: Set<UInt32>
    }

    /// `root` nil: a path of this system, on which links are followed that only root can change. Otherwise the path begins at
    /// `root`, and all links are followed, but none leads out of it.
    static func open(_ path: String, below root: String? = nil) throws(FileTrouble) -> DirectoryHandle {
        var path = path
        if root == nil, !path.hasPrefix("/") {
            guard let here = getcwd(nil, 0) else { throw FileTrouble(path: path, number: errno) }
            defer { free(here) }
            path = "\(String(cString: here))/\(path)"
        }
        let start = root.flatMap { $0.isEmpty ? nil : $0 } ?? "/"
        let first = openat(AT_FDCWD, start, pathOnly | O_DIRECTORY | O_CLOEXEC)
        guard first >= 0 else { throw FileTrouble(path: start, number: errno) }
        var open = [Place(descriptor: first, path: "", others: others(first, []))]
        var result: Int32?
        defer { for place in open where place.descriptor != result { close(place.descriptor) } }
        var parts = path.split(separator: "/").map(String.init)[...]
        var links = 0
        while let part = parts.popFirst() {
            if part == "." { continue }
            if part == ".." {
                if open.count > 1 { close(open.removeLast().descriptor) }
                continue
            }
            let here = open[open.count - 1]
            let there = "\(here.path)/\(part)"
            guard let target = link(here.descriptor, FileName(part)) else {
                open.append(try Self.place(here, FileName(part), path: there))
                continue
            }
            links += 1
            guard links <= mostLinks, root != nil || isRoots(FileName(part), in: here) else {
                throw FileTrouble(path: there, number: ELOOP)
            }
            if target.hasPrefix("/") { while open.count > 1 { close(open.removeLast().descriptor) } }
            parts = (target.split(separator: "/").map(String.init) + parts)[...]
        }
        let last = open[open.count - 1]
        result = last.descriptor
        let shown = last.path.isEmpty && root == nil ? "/" : last.path
        return DirectoryHandle(adopting: last.descriptor, path: shown, others: last.others)
    }

    /// A directory in an open one.
    static func child(
        _ parent: Int32, _ path: String, _ known: Set<UInt32>, _ name: FileName
    ) throws(FileTrouble) -> DirectoryHandle {
        let here = Place(descriptor: parent, path: path == "/" ? "" : path, others: known)
        let found = try place(here, name, path: "\(here.path)/\(name.text)")
        return DirectoryHandle(adopting: found.descriptor, path: found.path, others: found.others)
    }

    private static func place(_ here: Place, _ name: FileName, path: String) throws(FileTrouble) -> Place {
        let descriptor = openat(here.descriptor, name.bytes, flags)
        guard descriptor >= 0 else { throw FileTrouble(path: path, number: errno) }
        return Place(descriptor: descriptor, path: path, others: others(descriptor, here.others))
    }

    /// Who can change what is in a directory, beside root and beside those who can change what is on the way to it.
    private static func others(_ descriptor: Int32, _ known: Set<UInt32>) -> Set<UInt32> {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { return known.union([DirectoryHandle.anybody]) }
        var all = known
        if found.st_uid != 0 { all.insert(found.st_uid) }
        // Where the sticky bit is, nobody moves or removes the files of another user.
        let isForGroup = found.st_mode & 0o020 != 0 && found.st_uid == 0 && found.st_gid != 0
        if found.st_mode & 0o1000 == 0, isForGroup || found.st_mode & 0o002 != 0 { all.insert(DirectoryHandle.anybody) }
        return all
    }

    /// Whether only root can change where this link leads.
    private static func isRoots(_ name: FileName, in place: Place) -> Bool {
        var found = stat()
        return place.others.isEmpty && fstatat(place.descriptor, name.bytes, &found, AT_SYMLINK_NOFOLLOW) == 0
            && found.st_uid == 0
    }

    /// Where a link leads; nil for anything else.
    static func link(_ directory: Int32, _ name: FileName) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(directory, name.bytes, &target, target.count)
        return count < 0 ? nil : String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
