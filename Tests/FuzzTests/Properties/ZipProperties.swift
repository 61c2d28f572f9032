import Glibc
import TrackExport

/// The reader of zip files that `saker-server import` is given.
enum ZipProperties {
    /// Of the content of one file.
    private static let mostBytes = 4 << 20

    /// The input is the file.
    @Sendable static func check(_ input: [UInt8]) throws {
        // In memory, and without a name that another process could find.
        let name = "/saker-zip-\(getpid())"
        let descriptor = shm_open(name, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw Violation(description: "no memory for a file: errno \(errno)") }
        defer { close(descriptor) }
        shm_unlink(name)
        let written = input.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        try require(written == input.count, "the file was written in part")
        let path = "/proc/self/fd/\(descriptor)"
        do throws(ZipFile.Failure) {
            let file = try ZipFile(path)
            var left = mostBytes
            for entry in file.entries where left > 0 {
                left -= try content(of: entry, in: file, atMost: left)
            }
        } catch {
            guard error.description.hasPrefix(path) else {
                throw Violation(description: "an error that does not name its file: \(error)")
            }
        }
    }

    /// How many bytes were read: the whole entry, or about as many as are wanted.
    private static func content(
        of entry: ZipFile.Entry, in file: ZipFile, atMost most: Int
    ) throws(ZipFile.Failure) -> Int {
        let reader = try file.reader(of: entry)
        var count = 0
        while count < most, let piece = try reader.next() { count += piece.count }
        return count
    }
}
