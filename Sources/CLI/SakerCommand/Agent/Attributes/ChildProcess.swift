@preconcurrency import Glibc
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
