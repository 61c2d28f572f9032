internal import AgentLogic
package import DiskRing
internal import Glibc
internal import JSON
internal import Logging
internal import NIOCore
internal import Systemd

/// The file of the durable state: JSON, replaced whole. Every call may block; the calls are made on one thread at a time.
package struct StateFile {
    private let files: any CacheFileSystem
    private let directory: String

    /// The seam of the file system is the ring's, so that one simulated disk can fail under both.
    package init(directory: String, files: any CacheFileSystem = POSIXFileSystem()) {
        self.directory = directory
        self.files = files
    }

    package var path: String { directory + "/state.json" }

    /// Bytes; the file has a few hundred, with all the columns there may be some 20,000.
    private static let maximumBytes = 65_536

    package func read() -> DurableStateReading {
        let bytes: [UInt8]
        do throws(CacheFileError) {
            let file = try files.openFile(path, .readOnly)
            defer { files.close(file) }
            bytes = try files.bytes(of: file, at: 0, count: Self.maximumBytes)
        } catch {
            if error.operation == .open, error.number == ENOENT { return .absent }
            return .unreadable("\(path): \(error)")
        }
        let state: DurableState? = try? JSONReader.value(of: bytes).decoded()
        guard let state, state.version == 1 else {
            let aside = path + ".damaged"
            try? files.rename(path, to: aside)
            return .putAside(aside)
        }
        return .read(state)
    }

    /// Durable on return, wholly or not at all: a power cut leaves the old file or the new one. Returns why it failed, a
    /// sentence; nil when the state is on the disk.
    package func write(_ state: DurableState) -> String? {
        guard let value = try? JSONValue(encoding: state) else { return "\(path): the state cannot be encoded" }
        do throws(CacheFileError) {
            try replace(with: Array("\(value)\n".utf8))
            return nil
        } catch {
            return "\(path): \(error)"
        }
    }

    private func replace(with bytes: [UInt8]) throws(CacheFileError) {
        let temporary = path + ".new"
        do throws(CacheFileError) {
            let file = try files.openFile(temporary, .replace)
            defer { files.close(file) }
            try files.writeFully(file, bytes, at: 0)
            try files.synchronizeFile(file, dataOnly: true)
            try files.rename(temporary, to: path)
        } catch {
            try? files.unlink(temporary)
            throw error
        }
        try files.synchronizeNames(in: directory)
    }
}

/// What was found of the durable state.
package enum DurableStateReading: Hashable, Sendable {
    case absent
    case read(DurableState)
    /// Not understood: put aside under this name, and the agent starts from its configuration.
    case putAside(String)
    case unreadable(String)

    /// What an operator should know of it, a sentence.
    var trouble: String? {
        switch self {
        case .absent, .read: nil
        case .putAside(let path): "what was remembered was damaged and is put aside as \(path)"
        case .unreadable(let reason): "what was remembered cannot be read: \(reason)"
        }
    }
}

/// Does what a ``DurableStateMachine`` decides about a file: writes, waits, and says in the system's journal when the disk refuses.
///
/// Owns the machine's timers. The shell that owns the machine makes one, and gives each action to it. May touch: these timers
/// and the system's journal.
final class DurableStateFile {
    typealias Event = (inout DurableStateMachine) -> [DurableStateMachine.Action]

    /// What differs from file to file.
    struct Ways {
        let failing: Logger.Message
        let relieved: Logger.Message
        /// Writes what there is to remember now. Completes with nil when it is on the disk, otherwise with the reason. Nil:
        /// too much waits for the disk already, and nothing was done.
        let write: () -> EventLoopFuture<String?>?
        /// The machine is told an event.
        let happened: (@escaping Event) -> Void
        var answer: (RequestID, DurableStateMachine.Durability) -> Void = { _, _ in }
    }

    private let context: ShellContext
    private let timers: ShellTimers<DurableStateMachine.Timer>
    private let ways: Ways

    init(_ context: ShellContext, _ ways: Ways) {
        self.context = context
        self.ways = ways
        timers = ShellTimers(context)
    }

    func perform(_ action: DurableStateMachine.Action) {
        switch action {
        case .write: write()
        case .answer(let caller, let durability): ways.answer(caller, durability)
        case .setTimer(let timer, let milliseconds):
            timers.set(timer, milliseconds: milliseconds) { [context, ways] in
                let now = context.now
                ways.happened { $0.timerFired(timer, now: now) }
            }
        case .cancelTimer(let timer): timers.cancel(timer)
        case .complain(let reason):
            context.log.error(ways.failing, metadata: .event(.stateNotRemembered, ["reason": "\(reason)"]))
        case .relieved: context.log.notice(ways.relieved, metadata: .event(.stateRemembered))
        }
    }

    func cancelTimers() { timers.cancelAll() }

    private func write() {
        guard let written = ways.write() else {
            return ways.happened { $0.failed(reason: "the disk hangs, and too much waits for it already") }
        }
        written.assumeIsolated().whenComplete { [ways] result in
            switch result {
            case .success(nil): ways.happened { $0.written() }
            case .success(let reason?): ways.happened { $0.failed(reason: reason) }
            // The process ends, and nobody writes any more.
            case .failure: break
            }
        }
    }
}
