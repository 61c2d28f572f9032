internal import AgentLogic
internal import CLinux
internal import Glibc
internal import Logging
internal import NIOCore

/// Tells when something in the directories of some files changes: the kernel's inotify(7), as an event of the loop.
///
/// It watches directories, because nobody writes to a file that is replaced by renaming another file over it. It does
/// not tell what changed: the listener looks at its files. While the kernel allows no watch, the listener looks at them at each
/// connection.
final class FileWatch {
    private let loop: any EventLoop
    private let onChange: () -> Void
    private var settling: Scheduled<Void>?
    private var events: KernelEvents?

    /// A certificate and its key are rarely written at the same instant.
    private static let settle = TimeAmount.seconds(1)

    private init(on loop: any EventLoop, onChange: @escaping () -> Void) {
        (self.loop, self.onChange) = (loop, onChange)
    }

    /// Watches nothing yet. After `onChange` the directories must be added once more: the kernel's end may be another one.
    static func start(
        on loop: any EventLoop, log: Logger, pause: RetryPause = RetryPause(),
        source: @escaping () -> Int32 = { saker_file_watch() }, onChange: @escaping () -> Void
    ) -> FileWatch {
        let watch = FileWatch(on: loop, onChange: onChange)
        let events = KernelEvents(
            "Changes of certificates", log: log, pause: pause, source: source,
            read: { [unowned watch] _ in watch.changed() }, missed: { [unowned watch] in watch.changed() })
        watch.events = events
        events.open(on: loop)
        return watch
    }

    /// The kernel's end, for ``add(_:to:)``; negative while the kernel has none to give.
    var descriptor: Int32 { events?.descriptor ?? -1 }

    /// Watches the directories of these files, those of their targets included when they are links. May wait for a disk;
    /// on any thread.
    static func add(_ files: [String], to descriptor: Int32) {
        guard descriptor >= 0 else { return }
        for file in files {
            _ = saker_file_watch_directory(descriptor, directory(of: file))
            guard let target = realpath(file, nil) else { continue }
            _ = saker_file_watch_directory(descriptor, directory(of: String(cString: target)))
            free(target)
        }
    }

    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    func stop() {
        settling?.cancel()
        events?.stop()
    }

    private func changed() {
        guard settling == nil else { return }
        settling = loop.assumeIsolated().scheduleTask(in: Self.settle) { [self] in
            settling = nil
            onChange()
        }
    }
}
