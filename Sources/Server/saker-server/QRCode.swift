import ConfigurationFile
@preconcurrency import Glibc
import ServerRuntime

/// Draws a text as a QR code on the terminal, with the program qrencode.
enum QRCode {
    private static let program = "qrencode"

    /// Throws when the program is not there.
    static func checkProgram() throws(ServerError) {
        let folders = getenv("PATH").map { String(cString: $0) }?.split(separator: ":") ?? []
        guard !folders.contains(where: { access("\($0)/\(program)", X_OK) == 0 }) else { return }
        throw ServerError(
            .notFound, "--qr needs the program \(program): install it (apt install \(program)), or leave --qr out")
    }

    /// The text goes to standard input: other users see arguments.
    static func draw(_ text: Secret) throws(ServerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(errno) }
        // The program gets only a copy of the end that it reads.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { for end in ends where end >= 0 { close(end) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        fflush(nil)
        let words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("-t"), strdup("ANSIUTF8"), nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let problem = posix_spawnp(&process, program, &actions, nil, words, environ)
        guard problem == 0 else { throw failure(problem) }
        close(ends[0])
        ends[0] = -1
        // A line fits into the pipe, so nobody waits for anybody.
        signal(SIGPIPE, SIG_IGN)
        let bytes = Array(text.revealed.utf8)
        _ = bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        close(ends[1])
        ends[1] = -1
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw ServerError(.notFound, "\(program) could not draw the line: its status is \(status >> 8)")
        }
    }

    private static func failure(_ number: Int32) -> ServerError {
        ServerError(.notFound, "\(program) cannot be started: \(String(cString: strerror(number)))")
    }
}
