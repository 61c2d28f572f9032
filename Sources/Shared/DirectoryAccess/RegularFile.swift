internal import Glibc

/// Reading a regular file whole. Links are followed, as a certificate's often is one.
///
/// Whoever owns a directory may put a pipe or a device where a file was: nobody ever writes into the pipe, and to open a device may
/// do something. So nothing but a regular file is opened.
package enum RegularFile {
    /// Opens it for reading. The caller closes it.
    package static func open(_ path: String) throws(FileTrouble) -> Int32 {
        var found = stat()
        guard stat(path, &found) == 0 else { throw FileTrouble(path: path, number: errno) }
        let kind = found.st_mode & S_IFMT
        guard kind == S_IFREG else {
            throw FileTrouble(path: path, number: kind == S_IFDIR ? EISDIR : FileTrouble.irregular)
        }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw FileTrouble(path: path, number: errno) }
        return try checked(descriptor, path)
    }

    /// Another file may stand there by now. Closes what is no regular one.
    fileprivate static func checked(_ descriptor: Int32, _ path: String) throws(FileTrouble) -> Int32 {
        guard EntryStatus(descriptor: descriptor)?.kind == .file else {
            close(descriptor)
            throw FileTrouble(path: path, number: FileTrouble.irregular)
        }
        return descriptor
    }

    /// All of it, at most so many bytes.
    package static func bytes(_ path: String, most: Int = 1 << 20) throws(FileTrouble) -> [UInt8] {
        let descriptor = try open(path)
        defer { close(descriptor) }
        return try bytes(from: descriptor, path, most: most)
    }

    /// The rest of one that is open.
    package static func bytes(
        from descriptor: Int32, _ path: String, most: Int = 1 << 20
    ) throws(FileTrouble) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= most {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw FileTrouble(path: path, number: errno)
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        throw FileTrouble(path: path, number: EFBIG)
    }
}

// Regular files in a directory that is open, and below the root of an image.
extension DirectoryHandle {
    /// Opens a regular file as a system sees it that starts from `root`, for reading. Links lead no further than there; no pipe is waited
    /// for. The caller closes it.
    package static func open(_ path: String, below root: String) throws(FileTrouble) -> Int32 {
        var path = path
        for _ in 0...DirectoryWalk.mostLinks {
            let (folder, name) = parts(of: path)
            let directory = try DirectoryHandle(folder, below: root)
            guard let target = DirectoryWalk.link(directory.descriptor, FileName(name)) else {
                return try directory.open(FileName(name))
            }
            path = target.hasPrefix("/") ? target : "\(directory.path)/\(target)"
        }
        throw FileTrouble(path: path, number: ELOOP)
    }

    /// Whether a regular file is there that can be read, as a system sees it that starts from `root`.
    package static func hasFile(_ path: String, below root: String) -> Bool {
        guard let file = try? open(path, below: root) else { return false }
        close(file)
        return true
    }

    /// Opens a regular file for reading. Throws for anything else, also for a link, and waits for no pipe. The caller closes it.
    package func open(_ name: FileName) throws(FileTrouble) -> Int32 {
        try openRegular(name, O_RDONLY)
    }

    /// Empties a regular file, durably.
    package func truncate(_ name: FileName) throws(FileTrouble) {
        let file = try openRegular(name, O_WRONLY)
        defer { close(file) }
        guard ftruncate(file, 0) == 0, fsync(file) == 0 else { throw trouble(name) }
    }

    private func openRegular(_ name: FileName, _ flags: Int32) throws(FileTrouble) -> Int32 {
        guard name.isEntry else { throw FileTrouble(path: "\(path)/\(name.text)", number: EINVAL) }
        let file = openat(descriptor, name.bytes, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else {
            // A pipe that nobody reads.
            throw errno == ENXIO
                ? FileTrouble(path: "\(path)/\(name.text)", number: FileTrouble.irregular) : trouble(name)
        }
        return try RegularFile.checked(file, "\(path)/\(name.text)")
    }
}
