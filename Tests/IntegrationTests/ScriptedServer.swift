import Foundation
import ProgramTestKit

/// A server that the agent trusts, with a certificate of the fleet's own authority, and that breaks the protocol.
struct ScriptedServer {
    /// What it does with each connection. In a session: after a correct `Welcome`.
    enum Manner: String, CaseIterable, Sendable {
        case garbageForWelcome, garbageInSession, noMessage, unknownMessage
        case halfAWelcome, halfAWelcomeAndSilence, halfAnAcknowledgement
        case twoGiBForWelcome, twoGiBInSession
        case resetInMidBatch, acknowledgesTheFuture
        /// Correct, but its clock is an hour ahead.
        case clockAhead
    }

    let program: Program

    /// At the fleet's device port. `seed`: of the garbage.
    init(_ manner: Manner, for fleet: Fleet, seed: UInt64 = 0) throws {
        let authority = Authority(
            certificate: fleet.server + "/ca.pem", key: fleet.server + "/ca-key.pem", directory: fleet.directory.path)
        let identity = try authority.serve("IP:127.0.0.1")
        program = try Program(
            "/usr/bin/env",
            [
                "python3", "-c", Self.script, "\(fleet.devicePort)", manner.rawValue, identity.certificate,
                identity.key,
                "\(seed)",
            ])
        try waitUntil("the scripted server listens", within: 300) {
            try require(program.isRunning, program.printed)
            return program.output.contains("ready")
        }
    }

    /// Agents that have said Hello over TLS.
    var logins: Int { program.output.split(separator: "\n").count { $0 == "hello" } }
    /// Batches of which it has read the beginning.
    var batches: Int { program.output.split(separator: "\n").count { $0 == "batch" } }

    /// Reads the frames of the agent as docs/formats/track-protocol.md has them, and writes its own by hand.
    private static let script = """
        import random, socket, ssl, struct, sys, threading, time
        port, manner, certificate, key, seed = int(sys.argv[1]), *sys.argv[2:5], int(sys.argv[5])
        dice = random.Random(seed)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["saker/1"])

        def varint(number):
            out = bytearray()
            while number > 127:
                out.append(number & 127 | 128)
                number >>= 7
            return bytes(out) + bytes([number])
        def member(number, value):
            if isinstance(value, bytes):
                return varint(number << 3 | 2) + varint(len(value)) + value
            return varint(number << 3) + varint(value)
        def frame(message):
            return varint(len(message)) + message
        def welcome(ahead=0):
            return frame(member(1, member(1, 7) + member(2, int(time.time() * 1000) + ahead)))
        def acknowledgement(sequence):
            return frame(member(3, member(1, sequence)))
        def read(connection, count):
            data = b""
            while len(data) < count:
                piece = connection.recv(count - len(data))
                if not piece:
                    raise OSError("the agent has closed")
                data += piece
            return data
        def header(connection):
            length = shift = 0
            while True:
                byte, = read(connection, 1)
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return length
        def say(word):
            print(word, flush=True)
        def flood(connection):
            # As much of the two gibibytes as the agent takes.
            for _ in range(2048):
                connection.sendall(bytes(1 << 20))
        def reset(connection):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        def batch(connection):
            # A message of some size is no heartbeat: it begins with the tag of an Upload, of which a part is read.
            while True:
                length = header(connection)
                if read(connection, 1) == bytes([2 << 3 | 2]):
                    say("batch")
                    return length
                read(connection, length - 1)

        def answer(connection):
            # It begins with a length that no frame has: random ones might ask for more bytes than come.
            garbage = b"\\xff\\xff\\xff" + dice.randbytes(100_000)
            early = {
                "garbageForWelcome": garbage,
                "halfAWelcome": welcome()[:5],
                "halfAWelcomeAndSilence": welcome()[:5],
                "twoGiBForWelcome": varint(1 << 31),
            }
            if manner in early:
                connection.sendall(early[manner])
                if manner == "twoGiBForWelcome":
                    flood(connection)
                if manner == "halfAWelcomeAndSilence":
                    connection.recv(1)
                return
            connection.sendall(welcome(3_600_000 if manner == "clockAhead" else 0))
            late = {
                "garbageInSession": garbage,
                "noMessage": frame(b"\\xff" * 300),
                # A field that no ServerFrame has.
                "unknownMessage": frame(member(99, b"news")),
                "twoGiBInSession": varint(1 << 31),
            }
            if manner == "clockAhead":
                while True:
                    read(connection, header(connection))
            batch(connection)
            if manner in late:
                connection.sendall(late[manner])
                if manner == "twoGiBInSession":
                    flood(connection)
            elif manner == "halfAnAcknowledgement":
                connection.sendall(acknowledgement(1 << 40)[:4])
            elif manner == "resetInMidBatch":
                reset(connection)
            elif manner == "acknowledgesTheFuture":
                connection.sendall(acknowledgement(1 << 40))
                connection.recv(1 << 16)

        def serve(plain):
            try:
                connection = context.wrap_socket(plain, server_side=True)
                read(connection, header(connection))
                say("hello")
                answer(connection)
                connection.close()
            except OSError:
                plain.close()
        listener = socket.create_server(("127.0.0.1", port))
        say("ready")
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """
}
