package import AlarmLog
internal import Geofencing
package import LocalFences

/// The server's fences that the process before has left on the disk.
package struct RecalledServerFences: Sendable {
    /// Nil: there were none, or they cannot be used. The server sends them again.
    package var set: ServerFenceSet?
    /// Why they cannot be used, a sentence; nil when they can, or there were none.
    package var trouble: String?

    package init() {}

    /// Reads the file; the call may block.
    package init(_ file: ServerFenceFile) {
        switch file.read() {
        case .absent: break
        case .damaged: trouble = "\(file.path) is damaged"
        case .unreadable(let reason): trouble = reason
        case .read(let bytes):
            do throws(MemoryCodingError) {
                set = try ServerFenceSet(encoded: bytes)
            } catch {
                trouble = "\(file.path): \(error)"
            }
        }
    }
}
