internal import Glibc

/// The standard streams of a command, without a buffer.
enum FenceOutput {
    static func complain(_ line: String) {
        write(line + "\n", to: STDERR_FILENO)
    }

    static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}
