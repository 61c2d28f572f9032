import DirectoryAccess
import Glibc

/// Reading a small text file, such as a certificate.
enum TextFile {
    static let maximumBytes = 1 << 20

    static func read(_ path: String, limit: Int = maximumBytes) throws(ServerError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ServerError(.notFound, "\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        return try read(descriptor, path, limit)
    }

    /// A regular file in an open directory; no link is followed.
    static func read(_ name: String, in directory: borrowing DirectoryHandle) throws(ServerError) -> String {
        let path = "\(directory.path)/\(name)"
        let descriptor: Int32
        do throws(FileTrouble) {
            descriptor = try directory.open(FileName(name))
        } catch {
            throw ServerError(.notFound, "\(path) cannot be read: \(error.reason)")
        }
        defer { close(descriptor) }
        return try read(descriptor, path, maximumBytes)
    }

    private static func read(_ descriptor: Int32, _ path: String, _ limit: Int) throws(ServerError) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= limit {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw ServerError(.notFound, "\(path) cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
        throw ServerError(.notFound, "\(path) is larger than \(limit) bytes")
    }
}
