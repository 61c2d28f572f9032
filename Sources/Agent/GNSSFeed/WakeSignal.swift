internal import Glibc
internal import Synchronization

/// Lets any thread interrupt the feed's thread while it waits in poll. It is a pipe that holds at most a few bytes.
final class WakeSignal: Sendable {
    /// Readable while a request waits.
    let descriptor: CInt
    private let writeEnd: CInt
    private let stopRequested = Atomic<Bool>(false)
    private let wakeRequested = Atomic<Bool>(false)

    init() throws(GNSSFeedError) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            throw GNSSFeedError(.resources, "pipe: \(reason(errno))")
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    var isStopped: Bool { stopRequested.load(ordering: .acquiring) }

    func stop() {
        stopRequested.store(true, ordering: .releasing)
        nudge()
    }

    func wake() {
        wakeRequested.store(true, ordering: .releasing)
        nudge()
    }

    /// Wakes the feed's thread because something that it waits for has happened.
    func nudge() {
        var byte: UInt8 = 0
        // A full pipe is readable too.
        _ = unsafe write(writeEnd, &byte, 1)
    }

    /// Makes the descriptor unreadable again. True once after each `wake`.
    func takeWake() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
        return wakeRequested.exchange(false, ordering: .acquiringAndReleasing)
    }
}

/// The kernel's text for an error number.
func reason(_ number: CInt) -> String {
    unsafe String(cString: strerror(number))
}
