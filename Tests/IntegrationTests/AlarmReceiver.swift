import Foundation
import ProgramTestKit

/// An operator's server for alarms, in Python: it shares no code with the server that sends them.
final class AlarmReceiver {
    enum Manner: String {
        case taken, error, hang, redirect, endless
    }

    let port: Int
    private let files: TemporaryDirectory
    private let redirect: String
    private var program: Program?

    /// `redirect`: where it sends whoever asks while its manner is that.
    init(_ identity: (certificate: String, key: String), redirect: String = "") throws {
        (files, port, self.redirect) = (try TemporaryDirectory(), try freePort(), redirect)
        try Self.write(identity, into: files)
        try Manner.taken.rawValue.write(toFile: files.file("manner"), atomically: true, encoding: .utf8)
        try comeBack()
    }

    /// Listens again at its port.
    func comeBack() throws {
        let started = try Program("/usr/bin/env", ["python3", "-c", Self.script, "\(port)", files.path, redirect])
        program = started
        try waitUntil("the receiver listens", within: 300) {
            try require(started.isRunning, "\(started.printed)")
            return isListening(port)
        }
    }

    /// From the next request on.
    func act(_ manner: Manner) throws {
        try manner.rawValue.write(toFile: files.file("manner"), atomically: true, encoding: .utf8)
    }

    /// From the next connection on.
    func use(_ identity: (certificate: String, key: String)) throws { try Self.write(identity, into: files) }

    private static func write(
        _ identity: (certificate: String, key: String), into files: TemporaryDirectory
    ) throws {
        let texts = try [identity.certificate, identity.key].map { try String(contentsOfFile: $0, encoding: .utf8) }
        try texts.joined().write(toFile: files.file("identity.pem"), atomically: true, encoding: .utf8)
    }

    struct Request {
        let type: Int
        let keys: [String]
        /// The receiver has answered that it has the alarms.
        let isTaken: Bool
    }

    private var lines: [String] {
        let text = (try? String(contentsOfFile: files.file("requests"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// In the order in which they came.
    func requests() throws -> [Request] {
        try lines.compactMap { line in
            // The last line may be under way.
            guard let value = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let text = value["body"] as? String
            else { return nil }
            let body = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let alarms = try require(body?["content"] as? [[String: Any]], "\(text)")
            return Request(
                type: body?["type"] as? Int ?? 0, keys: alarms.compactMap { $0["key"] as? String },
                isTaken: value["manner"] as? String == Manner.taken.rawValue)
        }
    }

    /// How many requests have the right signature, by the program of docs/web-api.md.
    func signed(by secret: String) throws -> Int {
        let checked = try Program.run(
            "/usr/bin/env", ["python3", "-c", Self.check, files.file("requests")],
            environment: ["SECRET": secret])
        return try require(Int(checked.output.trimmingCharacters(in: .whitespacesAndNewlines)), checked.all)
    }

    /// Connections that ended because the server did not trust the certificate.
    var refusals: Int { lines.count { $0 == "refused" } }

    func end() { program?.end(SIGKILL) }

    private static let check = """
        import hmac, json, os, sys

        def is_right(headers, body, secret):
            signed = headers["X-Saker-Time"].encode() + b"." + body
            expected = "sha256=" + hmac.new(secret.encode(), signed, "sha256").hexdigest()
            return hmac.compare_digest(expected, headers["X-Saker-Signature"])

        requests = [json.loads(line) for line in open(sys.argv[1]) if line.startswith("{")]
        print(sum(is_right(r["headers"], r["body"].encode(), os.environ["SECRET"]) for r in requests))
        """

    private static let script = """
        import http.server, json, os, ssl, sys, threading, time
        port, folder, redirect = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        lock = threading.Lock()

        def note(line):
            with lock, open(folder + "/requests", "a") as file:
                file.write(line + "\\n")

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                note(json.dumps({"headers": {}, "body": '{"type":99,"content":[]}'}))
                self.send_error(404)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                manner = open(folder + "/manner").read()
                note(json.dumps({"headers": dict(self.headers), "body": body, "manner": manner}))
                if manner == "hang":
                    time.sleep(3600)
                if manner == "endless":
                    self.send_response(200)
                    self.send_header("SignId", "baidu_yingyan")
                    self.send_header("Content-Length", str(2 << 30))
                    self.end_headers()
                    for _ in range(32768):
                        self.wfile.write(b" " * 65536)
                    return
                answer = b'{"status":0}'
                self.send_response({"taken": 200, "error": 500, "redirect": 302}[manner])
                self.send_header("SignId", "baidu_yingyan")
                if manner == "redirect":
                    self.send_header("Location", redirect)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def get_request(self):
                client, address = self.socket.accept()
                client.settimeout(30)
                return client, address

            def finish_request(self, client, address):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(folder + "/identity.pem")
                try:
                    secure = context.wrap_socket(client, server_side=True)
                    super().finish_request(secure, address)
                except (ssl.SSLError, OSError) as error:
                    if isinstance(error, ssl.SSLError):
                        note("refused")

            def handle_error(self, *words):
                pass

        Server(("127.0.0.1", port), Handler).serve_forever()
        """
}
