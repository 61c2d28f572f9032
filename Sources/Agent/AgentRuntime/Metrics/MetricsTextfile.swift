internal import Glibc
internal import NIOCore
internal import NIOPosix

/// The file that node_exporter's textfile collector reads, written on a thread of its own: a directory that hangs holds
/// up neither the loop nor the ring's disk thread.
///
/// Each page replaces the page before in one step, so that a reader never sees half a page. No page is synchronised:
/// after a power cut an old page is worth nothing.
final class MetricsTextfile {
    private let path: String
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private var isWriting = false
    private var isRemoved = false

    /// Why a page could not be written, a sentence; nil when the page is in its place.
    typealias Outcome = String?

    init(path: String) {
        self.path = path
        thread.start()
    }

    /// Writes a page and completes on the loop. Must be called on the loop. While a page is being written, another page
    /// fails at once: pages never queue up.
    func write(_ page: [UInt8], on loop: any EventLoop) -> EventLoopFuture<Outcome> {
        guard !isWriting, !isRemoved else {
            return loop.makeSucceededFuture("\(path): the page before is still being written")
        }
        isWriting = true
        let written = thread.runIfActive(eventLoop: loop) { [path] in Self.replace(path, by: page) }
        return written.assumeIsolated().map { [self] outcome in
            isWriting = false
            return outcome
        }.nonisolated()
    }

    /// Removes the file, so that nobody reads old metrics, and ends the thread.
    func remove(on loop: any EventLoop) -> EventLoopFuture<Void> {
        isRemoved = true
        let done = loop.makePromise(of: Void.self)
        thread.runIfActive(eventLoop: loop) { [path] in _ = unlink(path) }.whenComplete { [thread] _ in
            thread.shutdownGracefully { _ in done.succeed() }
        }
        return done.futureResult
    }

    /// Writes a new file beside the old one and renames it. Removes the new file when that fails.
    private static func replace(_ path: String, by page: [UInt8]) -> Outcome {
        // node_exporter reads names that end in .prom and nothing else.
        let temporary = path + ".new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { return failure(path, errno) }
        var number: Int32 = 0
        // Other users read the file, whatever the unit's umask says.
        if fchmod(file, 0o644) != 0 { number = errno }
        var rest = page[...]
        while number == 0, !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { number = errno }
        }
        if close(file) != 0, number == 0 { number = errno }
        if number == 0, rename(temporary, path) != 0 { number = errno }
        guard number != 0 else { return nil }
        unlink(temporary)
        return failure(path, number)
    }

    private static func failure(_ path: String, _ number: Int32) -> String {
        let reason =
            switch number {
            case ENOENT: "its directory does not exist"
            case EACCES, EPERM: "this user may not write there"
            case EROFS: "it is read-only here; under systemd the unit needs ReadWritePaths= for its directory"
            case ENOSPC, EDQUOT: "there is no space left"
            default: String(cString: strerror(number))
            }
        return "\(path): \(reason)"
    }
}
