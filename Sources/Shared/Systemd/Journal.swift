internal import Glibc

/// The connection to journald, shared by all loggers of a process.
///
/// It never waits. An entry that the journal does not take at once is lost and counted.
package final class Journal: Sendable {
    package static let systemPath = "/run/systemd/journal/socket"

    private let socket: UnixDatagramSocket

    /// Nil when the system gives no socket. `path` need not exist yet.
    package init?(path: String = Journal.systemPath) {
        guard let socket = UnixDatagramSocket(path: path) else { return nil }
        self.socket = socket
    }

    /// False: the journal did not take the entry, which is lost. ``SystemLog/lostMessages`` counts it.
    @discardableResult
    func send(_ entry: JournalEntry) -> Bool {
        var outcome = socket.send(entry.bytes)
        if outcome == .tooLarge { outcome = sendAsFile(entry.bytes) }
        guard outcome != .sent else { return true }
        SystemLog.noteLoss()
        return false
    }

    /// Sends an entry that is too large for a datagram in a sealed memory file, as the journal's protocol requires.
    private func sendAsFile(_ bytes: [UInt8]) -> UnixDatagramSocket.Outcome {
        guard let file = MemoryFile.sealing(bytes) else { return .tooLarge }
        return socket.send([], passing: file.descriptor)
    }
}

/// An anonymous file in memory that nobody can change any more.
private struct MemoryFile: ~Copyable {
    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// A sealed file with these bytes; nil when the system gives none.
    static func sealing(_ bytes: [UInt8]) -> MemoryFile? {
        // glibc's header hides the function from Swift (_GNU_SOURCE). The library has it since 2.27.
        guard let symbol = unsafe dlsym(nil, "memfd_create") else { return nil }
        typealias Create = @convention(c) (UnsafePointer<CChar>?, UInt32) -> Int32
        let create = unsafe unsafeBitCast(symbol, to: Create.self)
        let closeOnExecute: UInt32 = 1  // MFD_CLOEXEC
        let allowSealing: UInt32 = 2  // MFD_ALLOW_SEALING
        let descriptor = unsafe create("saker-journal", closeOnExecute | allowSealing)
        guard descriptor >= 0 else { return nil }
        let file = MemoryFile(descriptor: descriptor)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return unsafe write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            written += count
        }
        let addSeals: Int32 = 1033  // F_ADD_SEALS
        let allSeals: Int32 = 15  // F_SEAL_SEAL, _SHRINK, _GROW, _WRITE
        guard fcntl(descriptor, addSeals, allSeals) == 0 else { return nil }
        return file
    }
}
