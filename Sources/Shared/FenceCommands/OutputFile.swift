internal import Glibc

/// A file that is written beside its place and put there as a whole, or standard output.
package struct OutputFile {
    private let path: String?
    private let temporary: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Nil writes to standard output.
    package init(_ path: String?) throws(FenceCommandFailure) {
        self.path = path
        guard let path else {
            (temporary, descriptor) = ("", STDOUT_FILENO)
            return
        }
        temporary = "\(path).\(getpid()).part"
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    private static func failure(_ path: String) -> FenceCommandFailure {
        FenceCommandFailure(.failed, "\(path.printable): cannot be written: \(String(cString: strerror(errno)))")
    }

    package mutating func write(_ bytes: some Sequence<UInt8>) throws(FenceCommandFailure) {
        buffer += bytes
        if buffer.count >= 256 * 1024 { try flush() }
    }

    package mutating func write(_ text: String) throws(FenceCommandFailure) { try write(text.utf8) }

    private mutating func flush() throws(FenceCommandFailure) {
        var rest = buffer[...]
        buffer = []
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if path == nil, errno == EPIPE { exit(0) }
                throw Self.failure(path ?? "standard output")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Puts the file in its place.
    package mutating func finish() throws(FenceCommandFailure) {
        try flush()
        guard let path else { return }
        guard close(descriptor) == 0, rename(temporary, path) == 0 else {
            let failure = Self.failure(path)
            unlink(temporary)
            throw failure
        }
    }

    /// Leaves nothing behind after a failure.
    package func discard() {
        guard path != nil else { return }
        close(descriptor)
        unlink(temporary)
    }
}
