internal import Glibc
package import Logging
internal import Synchronization

/// Where this process logs: to the journal if standard error goes there, otherwise to standard error.
package enum SystemLog {
    private static let lost = Atomic<UInt64>(0)

    /// Messages that this process lost because neither the journal nor standard error took them at once.
    package static var lostMessages: UInt64 { lost.load(ordering: .relaxed) }

    static func noteLoss() { lost.add(1, ordering: .relaxed) }

    /// Makes the handlers for `LoggingSystem.bootstrap`.
    ///
    /// - Parameters:
    ///   - identifier: the program's name, for `journalctl -t`.
    ///   - level: the least level that is logged.
    ///   - environment: the variables in which to look for JOURNAL_STREAM; nil for this process's environment.
    ///   - journalPath: journald's socket.
    /// - Returns: a maker of handlers. All its handlers are `JournalLogHandler`s, or all are `ReadableLogHandler`s.
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
    /// The comparison is needed because a program that a service starts inherits the variable, but perhaps not the
    /// stream.
    static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
        guard let parts = stream?.split(separator: ":", omittingEmptySubsequences: false), parts.count == 2,
            let device = UInt64(parts[0]), let inode = UInt64(parts[1])
        else { return false }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }
}
