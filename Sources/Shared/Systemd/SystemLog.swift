internal import Glibc
package import Logging
internal import Synchronization

/// Where this process's log goes: to the journal when standard error does, else to standard error itself.
package enum SystemLog {
    private static let lost = Atomic<UInt64>(0)

    /// Messages lost by this process, since neither journal nor standard error took them at once.
    package static var lostMessages: UInt64 { lost.load(ordering: .relaxed) }

    static func noteLoss() { lost.add(1, ordering: .relaxed) }

    /// What `LoggingSystem.bootstrap` needs.
    ///
    /// - Parameters:
    ///   - identifier: the program's name, for `journalctl -t`.
    ///   - level: below it nothing is logged.
    ///   - environment: JOURNAL_STREAM is looked at; nil: this process's environment.
    ///   - journalPath: journald's socket.
    /// - Returns: a maker of handlers, which are all `JournalLogHandler`s or all `ReadableLogHandler`s.
    package static func handlerFactory(
        identifier: String, level: Logger.Level = .info, environment: [String: String]? = nil,
        journalPath: String = Journal.systemPath
    ) -> @Sendable (_ label: String) -> any LogHandler {
        let stream: String?
        if let environment {
            stream = environment["JOURNAL_STREAM"]
        } else {
            stream = unsafe getenv("JOURNAL_STREAM").map { unsafe String(cString: $0) }
        }
        if isJournal(STDERR_FILENO, stream: stream), let journal = Journal(path: journalPath) {
            return { label in
                var handler = JournalLogHandler(label: label, identifier: identifier, journal: journal)
                handler.logLevel = level
                return handler
            }
        }
        return { _ in
            var handler = ReadableLogHandler()
            handler.logLevel = level
            return handler
        }
    }

    /// Whether a descriptor is the stream that JOURNAL_STREAM (`device:inode`) names (systemd.exec(5)).
    ///
    /// Comparing matters: a program started by a service inherits the variable, not always the stream.
    static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
        guard let parts = stream?.split(separator: ":", omittingEmptySubsequences: false), parts.count == 2,
            let device = UInt64(parts[0]), let inode = UInt64(parts[1])
        else { return false }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }
}
