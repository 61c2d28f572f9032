internal import Glibc

/// Whole files.
enum FileBytes {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ path: String) { description = "\(path): \(String(cString: strerror(errno)))" }
    }

    static func names(in directory: String) throws -> [String] {
        guard let handle = opendir(directory) else { throw Failure(directory) }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    static func read(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(path) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Failure(path) }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(done))
            }
            guard count > 0 else { throw Failure(path) }
            done += count
        }
        return bytes
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(path) }
        defer { close(file) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                pwrite(file, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(done))
            }
            guard count > 0 else { throw Failure(path) }
            done += count
        }
    }
}
