internal import Glibc
internal import Synchronization

/// Lets any thread interrupt the feed's thread while it waits in poll: a pipe with at most a few bytes in it.
final class WakeSignal: Sendable {
    /// Readable while a request is waiting.
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

    /// Something that the thread waits for has happened.
    func nudge() {
        var byte: UInt8 = 0
        // A full pipe is as readable as one with this byte.
        _ = unsafe write(writeEnd, &byte, 1)
    }

    /// Makes the descriptor unreadable again; true once after each `wake`.
    func takeWake() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(descriptor, &bytes, bytes.count) == bytes.count {}
        return wakeRequested.exchange(false, ordering: .acquiringAndReleasing)
    }
}

/// The kernel's words for an error number.
func reason(_ number: CInt) -> String {
    unsafe String(cString: strerror(number))
}
