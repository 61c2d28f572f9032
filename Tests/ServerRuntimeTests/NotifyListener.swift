import Foundation
import Glibc
import Logging
import Synchronization
import Testing

/// A socket that stands where systemd's would, and remembers what it was told.
///
/// A thread of its own reads, as systemd does at once: the kernel holds ten messages of such a socket and drops the eleventh,
/// and a busy test may look seconds later.
final class NotifyListener: Sendable {
    let path: String
    private let inbox: Inbox

    init(path: String) throws {
        self.path = path
        let inbox = Inbox(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0))
        self.inbox = inbox
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(inbox.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        Thread.detachNewThread { while inbox.wait() { _ = inbox.received } }
    }

    deinit { inbox.end() }

    /// Everything so far, one message after another.
    var received: String { inbox.received }
}

/// What the socket and its thread share. The last of both closes the descriptor.
private final class Inbox: Sendable {
    let descriptor: Int32
    private let isEnded = Atomic(false)
    private let text = Mutex("")

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    var received: String {
        text.withLock { text in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                text += String(decoding: buffer[..<count], as: UTF8.self) + "\n"
            }
            return text
        }
    }

    /// Waits for a message. False: the listener is gone.
    func wait() -> Bool {
        var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&one, 1, -1)
        return !isEnded.load(ordering: .acquiring)
    }

    func end() {
        isEnded.store(true, ordering: .releasing)
        // Wakes the thread.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// What a logger is told: each line with its metadata.
final class RecordedLines: Sendable {
    struct Line: Sendable {
        let text: String
        let metadata: [String: String]
    }

    private struct Handler: LogHandler {
        let lines: RecordedLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(_ lines: RecordedLines) { self.lines = lines }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let line = Line(text: "\(event.message)", metadata: (event.metadata ?? [:]).mapValues { "\($0)" })
            lines.told.withLock { $0.append(line) }
        }
    }

    private let told = Mutex<[Line]>([])

    var all: [Line] { told.withLock { $0 } }
    var texts: [String] { all.map(\.text) }
    var logger: Logger { Logger(label: "test") { _ in Handler(self) } }
}
