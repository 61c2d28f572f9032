internal import CLinux
internal import Glibc
package import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TrackModel

/// Runs hooks beside the event loop. Futures fail only after ``shutDown(on:)``.
package protocol HookExecutor: AnyObject {
    /// The hooks of the directory, and why other files are no hooks.
    func list(on loop: any EventLoop) -> EventLoopFuture<(hooks: [String], refusals: [String])>
    /// Runs a hook; completes when the hook and its process group have ended. `failure`: a sentence; `output`: what the
    /// hook printed, cut. `kind`: the kind of the event; `input`: the event.
    func run(
        _ hook: String, kind: String, input: [UInt8], on loop: any EventLoop
    ) -> EventLoopFuture<(failure: String?, output: String)>
    /// Ends the hooks that run, and completes when they have ended.
    func shutDown(on loop: any EventLoop) -> EventLoopFuture<Void>
}

/// Hooks as processes, each watched by a thread of its own. The threads begin with the first event.
final class HookRunner: HookExecutor {
    private let directory: HookDirectory
    /// Milliseconds that a hook may take.
    private let limit: Int64
    private let socket: String
    private let running = RunningHooks()
    private var threads: NIOThreadPool?
    private let threadCount: Int
    private var isShutDown = false

    private struct ShutDown: Error {}

    /// `concurrency`: hooks that run at a time; `socket`: the agent's, which hooks may ask.
    init(directory: HookDirectory, limit: Int64, socket: String, concurrency: Int) {
        self.directory = directory
        self.limit = limit
        self.socket = socket
        // One thread more, so that the look into the directory does not wait for a hook.
        threadCount = concurrency + 1
    }

    /// Nil after the shutdown: threads that begin then would never end.
    private var pool: NIOThreadPool? {
        if isShutDown { return nil }
        if let threads { return threads }
        let made = NIOThreadPool(numberOfThreads: threadCount)
        made.start()
        threads = made
        return made
    }

    func list(on loop: any EventLoop) -> EventLoopFuture<(hooks: [String], refusals: [String])> {
        let directory = directory
        guard let pool else { return loop.makeFailedFuture(ShutDown()) }
        return pool.runIfActive(eventLoop: loop) {
            let listing = directory.list()
            return (listing.hooks, listing.refusals)
        }
    }

    func run(
        _ hook: String, kind: String, input: [UInt8], on loop: any EventLoop
    ) -> EventLoopFuture<(failure: String?, output: String)> {
        // Nothing of the agent's own environment, which names the places of credentials.
        let environment = [
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
            "SAKER_EVENT=\(kind)", "SAKER_SOCKET=\(socket)",
        ]
        let process = HookProcess(
            path: "\(directory.path)/\(hook)", environment: environment, input: input, limit: limit, running: running)
        guard let pool else { return loop.makeFailedFuture(ShutDown()) }
        return pool.runIfActive(eventLoop: loop) {
            let outcome = process.run()
            return (outcome.failure, outcome.output)
        }
    }

    func shutDown(on loop: any EventLoop) -> EventLoopFuture<Void> {
        running.stop()
        isShutDown = true
        guard let threads else { return loop.makeSucceededVoidFuture() }
        self.threads = nil
        let done = loop.makePromise(of: Void.self)
        threads.shutdownGracefully { _ in done.succeed() }
        return done.futureResult
    }
}

/// One run of one hook, from its start to the end of its process group. Blocks the calling thread meanwhile.
struct HookProcess {
    struct Outcome: Hashable, Sendable {
        /// Why the run failed, a sentence; nil when the hook ended with status 0.
        var failure: String?
        /// What the hook printed, cut to ``outputBytes``.
        var output: String
    }

    /// The most bytes of a hook's output that are kept.
    static let outputBytes = 2048
    /// Milliseconds from SIGTERM to SIGKILL.
    static let grace: Int64 = 2000

    let path: String
    /// `NAME=value`
    let environment: [String]
    /// The bytes for the hook's standard input. They must fit into a pipe.
    let input: [UInt8]
    /// Milliseconds.
    let limit: Int64
    let running: RunningHooks

    func run() -> Outcome {
        var input = Pipe()
        var output = Pipe()
        defer {
            input.close()
            output.close()
        }
        guard input.open(), output.open(), Self.neverBlock(input.writing), Self.neverBlock(output.reading) else {
            return failed("no pipe: \(String(cString: strerror(errno)))")
        }
        guard input.fill(self.input) else { return failed("the event is longer than a pipe holds") }
        let process = spawn(input.reading, output.writing)
        guard process > 0 else {
            let hint = -process == ENOEXEC ? " (a script needs a first line such as #!/bin/sh)" : ""
            return failed("it cannot be started: \(String(cString: strerror(-process)))\(hint)")
        }
        input.closeReading()
        output.closeWriting()
        return watch(process, output.reading)
    }

    private func spawn(_ input: Int32, _ output: Int32) -> Int32 {
        var variables = environment.map { strdup($0) } + [nil]
        defer { for variable in variables { free(variable) } }
        guard running.mayStart else { return -ECANCELED }
        return variables.withUnsafeMutableBufferPointer { saker_spawn(path, $0.baseAddress, input, output) }
    }

    private func watch(_ process: Int32, _ output: Int32) -> Outcome {
        running.add(process)
        let handle = saker_pidfd(process)
        defer { if handle >= 0 { close(handle) } }
        var kept: [UInt8] = []
        var isOpen = true
        var deadline = Self.now + limit
        var isOverdue = false
        while saker_child_ended(process) == 0 {
            let rest = deadline - Self.now
            if rest <= 0 {
                kill(-process, isOverdue ? SIGKILL : SIGTERM)
                deadline = Self.now + Self.grace
                isOverdue = true
                continue
            }
            // An old kernel gives no handle of the process. Then this thread looks again and again whether the process
            // has ended.
            let wait = handle >= 0 ? rest : min(rest, 50)
            var events = [
                pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: handle, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&events, 2, Int32(clamping: wait))
            if events[0].revents != 0 { isOpen = Self.read(output, into: &kept) }
        }
        // Processes that the hook has left behind in its group end with the hook. The group keeps the hook's number
        // until the hook is reaped.
        kill(-process, SIGKILL)
        running.remove(process)
        var signal: Int32 = 0
        let status = saker_reap(process, &signal)
        if isOpen { _ = Self.read(output, into: &kept) }
        var text = String(decoding: kept.prefix(Self.outputBytes), as: UTF8.self)
        while text.last?.isNewline == true { text.removeLast() }
        if isOverdue { return Outcome(failure: "it took longer than \(limit / 1000) s and was ended", output: text) }
        if signal != 0 { return Outcome(failure: "it was ended by signal \(signal)", output: text) }
        return Outcome(failure: status == 0 ? nil : "it ended with status \(status)", output: text)
    }

    /// Reads all bytes that are there now; false at the end of the output.
    private static func read(_ descriptor: Int32, into kept: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        // Bounded: a hook that prints without end must not keep its own deadline from being seen.
        for _ in 0..<64 {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return false }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if kept.count < outputBytes { kept += buffer[..<count].prefix(outputBytes - kept.count) }
        }
        return true
    }

    private func failed(_ reason: String) -> Outcome { Outcome(failure: reason, output: "") }

    /// For the agent's ends only. The hook's ends block, as a program expects.
    private static func neverBlock(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 }

    private static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// The process groups that run, so that all can be ended at once.
final class RunningHooks: Sendable {
    private struct State {
        var groups: Set<Int32> = []
        var isStopped = false
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.groups.isEmpty } }

    var mayStart: Bool { state.withLock { !$0.isStopped } }

    func add(_ group: Int32) {
        state.withLock { state in
            state.groups.insert(group)
            if state.isStopped { kill(-group, SIGKILL) }
        }
    }

    /// Must be called before the group's leader is reaped: afterwards another process may have its number.
    func remove(_ group: Int32) { state.withLock { _ = $0.groups.remove(group) } }

    /// Ends all hooks that run. No hook starts afterwards.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            for group in state.groups { kill(-group, SIGKILL) }
        }
    }
}

/// A pipe. A child process gets an end of it only when the agent passes the end on.
private struct Pipe {
    private(set) var reading: Int32 = -1
    private(set) var writing: Int32 = -1

    mutating func open() -> Bool {
        var ends: [Int32] = [-1, -1]
        guard saker_pipe(&ends) == 0 else { return false }
        (reading, writing) = (ends[0], ends[1])
        return true
    }

    /// Writes all bytes and closes the writing end; false when the bytes do not fit.
    mutating func fill(_ bytes: [UInt8]) -> Bool {
        defer { closeWriting() }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(writing, $0.baseAddress?.advanced(by: done), $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    mutating func closeReading() {
        if reading >= 0 { Glibc.close(reading) }
        reading = -1
    }

    mutating func closeWriting() {
        if writing >= 0 { Glibc.close(writing) }
        writing = -1
    }

    mutating func close() {
        closeReading()
        closeWriting()
    }
}

/// The executables that run on events, and why some of them do not. Touches the disk.
struct HookDirectory: Sendable {
    let path: String
    /// The user who may own hooks, besides root.
    let user: UInt32

    struct Listing: Hashable, Sendable {
        /// Names, sorted by their bytes.
        var hooks: [String] = []
        /// Sentences: what is refused and what to do.
        var refusals: [String] = []
    }

    /// The most hooks that run for one event.
    static let maximumHooks = 32

    /// A directory that is not there has no hooks; one that others than its owner may write is not used at all.
    func list() -> Listing {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return Listing() }
            return Listing(refusals: ["\(path) cannot be read: \(String(cString: strerror(errno)))"])
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return Listing(refusals: ["\(path) is no directory: no hook is run"])
        }
        if let problem = danger(status, path) { return Listing(refusals: ["\(problem); no hook is run"]) }
        guard let handle = opendir(path) else {
            return Listing(refusals: ["\(path) cannot be read: \(String(cString: strerror(errno)))"])
        }
        defer { closedir(handle) }
        var listing = Listing()
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            guard !name.hasPrefix("."), !name.hasSuffix("~") else { continue }
            consider(name, &listing)
        }
        listing.hooks.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        listing.refusals.sort()
        if listing.hooks.count > Self.maximumHooks {
            listing.refusals.append(
                "\(path) holds \(listing.hooks.count) hooks: only the first \(Self.maximumHooks) are run")
            listing.hooks.removeLast(listing.hooks.count - Self.maximumHooks)
        }
        return listing
    }

    private func consider(_ name: String, _ listing: inout Listing) {
        let file = "\(path)/\(name)"
        var status = stat()
        guard lstat(file, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK:
            listing.refusals.append(
                "\(file) is a symbolic link and is not run: put the program itself there, or a script that calls it")
            return
        default: return
        }
        // A file without the right to be executed is a note, or a hook that somebody has turned off.
        guard status.st_mode & 0o111 != 0 else { return }
        if let problem = danger(status, file) {
            listing.refusals.append("\(problem); it is not run")
        } else {
            listing.hooks.append(name)
        }
    }

    /// Whoever can change a hook can do everything that the agent can do.
    private func danger(_ status: stat, _ path: String) -> String? {
        guard status.st_uid == 0 || status.st_uid == user else {
            return "\(path) belongs to user \(status.st_uid): make it root's (chown root \(path))"
        }
        guard status.st_mode & 0o022 == 0 else {
            return "\(path) can be changed by others than its owner: chmod go-w \(path)"
        }
        return nil
    }
}
