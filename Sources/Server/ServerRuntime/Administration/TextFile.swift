import DirectoryAccess
import Glibc

/// Reading a small text file, such as a certificate.
enum TextFile {
    static let maximumBytes = 1 << 20

    static func read(_ path: String, limit: Int = maximumBytes) throws(ServerError) -> String {
        let bytes: [UInt8]
        do throws(FileTrouble) {
            bytes = try RegularFile.bytes(path, most: limit)
        } catch {
            throw failure(path, error, limit)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A regular file in an open directory; no link is followed.
    static func read(_ name: String, in directory: borrowing DirectoryHandle) throws(ServerError) -> String {
        let path = "\(directory.path)/\(name)"
        let bytes: [UInt8]
        do throws(FileTrouble) {
            let descriptor = try directory.open(FileName(name))
            defer { close(descriptor) }
            bytes = try RegularFile.bytes(from: descriptor, path, most: maximumBytes)
        } catch {
            throw failure(path, error, maximumBytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func failure(_ path: String, _ trouble: FileTrouble, _ limit: Int) -> ServerError {
        let reason = trouble.number == EFBIG ? "is larger than \(limit) bytes" : "cannot be read: \(trouble.reason)"
        return ServerError(.notFound, "\(path) \(reason)")
    }
}
