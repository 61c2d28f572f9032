import DirectoryAccess
import Glibc

/// Reading a small file whole, and what its owner lets others do with it.
enum FileReading {
    struct Status {
        var isReadableByAll: Bool
    }

    /// Throws `.unreadable`, saying what to do about the common causes.
    static func bytes(of path: String, limit: Int) throws(ConfigurationError) -> ([UInt8], Status) {
        let descriptor: Int32
        do throws(FileTrouble) {
            descriptor = try RegularFile.open(path)
        } catch {
            throw ConfigurationError(.unreadable, file: path, explain(error.number))
        }
        defer { close(descriptor) }
        return try bytes(from: descriptor, of: path, limit: limit)
    }

    /// The rest of a file that is open.
    static func bytes(
        from descriptor: Int32, of path: String, limit: Int
    ) throws(ConfigurationError) -> ([UInt8], Status) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ConfigurationError(.unreadable, file: path, explain(errno))
        }
        let kind = status.st_mode & S_IFMT
        guard kind == S_IFREG else {
            throw ConfigurationError(
                .unreadable, file: path, explain(kind == S_IFDIR ? EISDIR : FileTrouble.irregular))
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw ConfigurationError(.unreadable, file: path, explain(errno))
            }
            if count == 0 { break }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw ConfigurationError(.unreadable, file: path, "is larger than \(limit) bytes")
            }
        }
        let isReadableByAll = status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o004 != 0
        return (bytes, Status(isReadableByAll: isReadableByAll))
    }

    static func explain(_ code: Int32) -> String {
        switch code {
        case ENOENT: "does not exist"
        case FileTrouble.irregular: "is no regular file, but a pipe, a socket or a device: put the file there"
        case EISDIR: "is a directory, not a file"
        case EACCES: "may not be read by this user: check the owner and mode of the file and its directories"
        default: "cannot be read: \(String(cString: strerror(code)))"
        }
    }
}
