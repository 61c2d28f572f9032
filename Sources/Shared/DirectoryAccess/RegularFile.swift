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
        // Another one may stand there by now.
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
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
