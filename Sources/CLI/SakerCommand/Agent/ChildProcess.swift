@preconcurrency import Glibc
import JSON
import Synchronization
import Terminal

/// A command whose standard output this program reads. Both share the terminal, so Ctrl-C reaches both.
struct ChildProcess: Sendable {
    private let process: pid_t
    /// The end of the pipe to read from.
    let output: Int32

    /// Runs a command of at least one word, found as a shell finds it, its standard error with its output when
    /// `mergingErrors`. Throws when it cannot be run.
    static func start(_ command: [String], mergingErrors: Bool = false) throws -> ChildProcess {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(command, errno) }
        // The child gets only a copy of the end that it writes to.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        if mergingErrors { posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        // A thread of this program's pool blocks signals: the child must be one that can be asked to end.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let failed = posix_spawnp(&process, command[0], &actions, &attributes, &arguments, environ)
        close(ends[1])
        guard failed == 0 else {
            close(ends[0])
            throw failure(command, failed)
        }
        return ChildProcess(process: process, output: ends[0])
    }

    /// Asks the command to end. Does not wait, because this program ends too.
    func end() { kill(process, SIGTERM) }

    /// Waits for the end of the command. Returns its exit code, or 128 + n for signal n.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 1 }
        }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    private static func failure(_ command: [String], _ number: Int32) -> CommandFailure {
        CommandFailure(
            .failed, "'\(command[0])' cannot be run: \(String(cString: strerror(number)))".printable)
    }
}

/// Reads JSON objects, one a line, on a thread of its own, and keeps the newest.
final class LineReader: Sendable {
    private struct State {
        var newest: [String: JSONValue] = [:]
        var isOver = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The most bytes of one line. Longer lines are skipped.
    private static let maximumLine = 65_536

    private let state = Mutex(State())

    /// The newest line that was a JSON object; empty before there was one.
    var newest: [String: JSONValue] { state.withLock { $0.newest } }

    /// Reads until the end of a descriptor, which it does not close. Once.
    func start(reading descriptor: Int32) {
        let reading = Unmanaged.passRetained(Reading(reader: self, descriptor: descriptor))
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let reading = Unmanaged<Reading>.fromOpaque(argument).takeRetainedValue()
                reading.reader.read(reading.descriptor)
                return nil
            }, reading.toOpaque())
        guard failed == 0 else {
            reading.release()
            return end()
        }
        pthread_detach(thread)
    }

    /// Returns when there are no more lines, or when it is cancelled.
    func untilEnd() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.waiting.append(continuation) }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }

    private final class Reading {
        let reader: LineReader
        let descriptor: Int32

        init(reader: LineReader, descriptor: Int32) {
            self.reader = reader
            self.descriptor = descriptor
        }
    }

    private func read(_ descriptor: Int32) {
        var line: [UInt8] = []
        var isTooLong = false
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in piece.prefix(count) {
                if byte == UInt8(ascii: "\n") {
                    take(line, isTooLong: isTooLong)
                    line = []
                    isTooLong = false
                } else if line.count < Self.maximumLine {
                    line.append(byte)
                } else {
                    isTooLong = true
                }
            }
        }
        if !line.isEmpty { take(line, isTooLong: isTooLong) }
        end()
    }

    private func take(_ line: [UInt8], isTooLong: Bool) {
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return }
        guard !isTooLong, let object = (try? JSONReader.value(of: line))?.objectValue else {
            let shown = String(decoding: line.prefix(60), as: UTF8.self).printable
            return Output.complain("saker: a line is not a JSON object; the line before stays in use: \(shown)")
        }
        state.withLock { $0.newest = object }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
