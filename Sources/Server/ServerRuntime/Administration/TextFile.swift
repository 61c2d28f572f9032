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
