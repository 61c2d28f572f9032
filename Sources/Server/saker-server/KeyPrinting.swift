import ConfigurationFile
@preconcurrency import Glibc
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

/// Prints what `service create` and `service rotate-key` have made.
func printKey(_ key: ServiceAdministration.NewKey, _ configuration: ServerConfiguration) throws {
    guard key.rights.scopes.contains(.legacyDevice) else { return printKey(key, nil) }
    do throws(ServerError) {
        let enrolment = try configuration.enrolmentString(service: key.service, accessKey: key.accessKey)
        printKey(key, enrolment)
    } catch {
        // The key exists now and must not be lost for want of a host name.
        printKey(key, nil)
        throw error
    }
}

private func printKey(_ key: ServiceAdministration.NewKey, _ enrolment: EnrolmentString?) {
    // A signed key is for clients of the Web API; an agent logs in with a plain one.
    printKey(key.accessKey, key.signingKey == nil ? enrolment : nil)
    if key.rights.end == nil, key.rights.scopes == .former {
        Output.print()
        Output.print(
            "The key also reads and writes all tracks of the service over the Web API. A key that only lets vehicles log in:"
                + " saker-server key create \(key.service.rawValue) --legacy-device")
    }
    guard let signingKey = key.signingKey else { return }
    Output.print("Signing key (sk): \(signingKey.revealed)")
    Output.print(
        key.isSigningKeySealed
            ? "The signing key is stored encrypted."
            : "The signing key is stored readable, because the server needs it to check signatures: whoever can read the "
                + "database can read it. key_file in [store] makes the server encrypt it.")
}

/// Prints an access key and the enrolment string with it.
func printKey(_ accessKey: Secret, _ enrolment: EnrolmentString?) {
    Output.print("Access key (ak): \(accessKey.revealed)")
    Output.print("Its number for `saker-server service disable-key`: \(AccessKey(accessKey.revealed).hash.number)")
    Output.print("Only a hash of the access key is stored: this is the only time it is shown.")
    guard let enrolment else { return }
    Output.print()
    Output.print(
        "Enrolment string: run `saker enroll` with it on a vehicle. It holds the access key; treat it like a password.")
    Output.print()
    Output.print(enrolment.encoded.revealed)
}

/// Prints an enrolment token and the line with it.
func printToken(_ token: TokenRecord, _ line: EnrolmentString) {
    let end = token.end.map { ", until \(TimeText.universal($0))" } ?? ""
    Output.print(
        "Token \(token.number) of service \(token.service.rawValue): for \(counted(token.uses, "vehicle"))\(end)")
    Output.print("Only a hash of the token is stored: this is the only time it is shown.")
    Output.print()
    Output.print("Enrolment line: run `saker enroll` with it on each vehicle. Who has it can make vehicles of yours.")
    Output.print()
    Output.print(line.encoded.revealed)
}

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
