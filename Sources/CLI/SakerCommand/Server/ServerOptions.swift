import ArgumentParser
import ConfigurationFile
import Glibc
import Terminal

/// How the server is reached: through the agent of this vehicle, which needs no key; or over HTTPS, when anything about the
/// server is given or there is no agent. What is not given then stands in a file: ~/.config/saker/client.toml or
/// /etc/saker/client.toml.
struct ServerOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The server, as in https://fleet.example:8443.", valueName: "url"))
    var server: String?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("The service's number.", valueName: "number"))
    var serviceId: Int64?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "File with the access key; - for standard input. Default: $SAKER_AK. The key itself is never an argument, because arguments are public.",
            valueName: "file"))
    var akFile: String?

    @Option(name: .long, help: ArgumentHelp("Trust this certificate authority (PEM) only.", valueName: "file"))
    var ca: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "File with [server] url, service_id, ak_file, app_code_file and ca_file (default: ~/.config/saker/client.toml, then "
                + "/etc/saker/client.toml).", valueName: "file"))
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Ask through the agent with this control socket. It is asked anyway when it is there and neither --server "
                + "nor a key is given.", valueName: "path"))
    var socket: String?

    @Flag(name: .long, help: "Print the server's answers as they are, one line of JSON each.")
    var json = false

    /// Everything that a call needs.
    struct Resolved {
        let base: ServerAddress
        let service: Int64
        let accessKey: Secret
        /// What the service wants beside the key, if it wants anything.
        let appCode: Secret?
        let authorityFile: String?
    }

    /// The agent's socket when the server is to be asked through it; nil when it is asked directly.
    func agentSocket() throws -> String? {
        let isDirect =
            server != nil || serviceId != nil || akFile != nil || ca != nil || config != nil
            || getenv("SAKER_AK") != nil
        guard socket == nil || !isDirect else {
            throw CommandFailure(
                .usage, "--socket asks through the agent: leave out --socket, or leave out the options for the server")
        }
        let path = AgentOptions.path(socket)
        if socket != nil { return path }
        return !isDirect && access(path, F_OK) == 0 ? path : nil
    }

    func resolve() throws -> Resolved {
        let file = try ClientFile.load(explicit: config, withKey: akFile == nil && getenv("SAKER_AK") == nil)
        guard let url = server ?? file?.url else {
            throw CommandFailure(.usage, "which server? Give --server https://…, or url in \(ClientFile.places)")
        }
        let address = try ServerAddress(url)
        guard let service = serviceId ?? file?.service else {
            throw CommandFailure(
                .usage, "which service? Give --service-id, or service_id in \(ClientFile.places)")
        }
        guard let accessKey = try givenKey() ?? file?.accessKey else {
            throw CommandFailure(
                .usage, "no access key: give --ak-file FILE, set SAKER_AK, or ak_file in \(ClientFile.places)")
        }
        return Resolved(
            base: address, service: service, accessKey: accessKey, appCode: file?.appCode,
            authorityFile: ca ?? file?.authorityFile)
    }

    private func givenKey() throws -> Secret? {
        let text: String?
        switch akFile {
        case "-": text = Console.readAll(limit: ConfigurationReader.maximumSecretBytes)
        case let path?: text = try Self.read(path)
        case nil: text = getenv("SAKER_AK").map { String(cString: $0) }
        }
        guard let key = text?.trimmed else { return nil }
        guard !key.isEmpty, !key.contains(where: \.isWhitespace) else {
            throw CommandFailure(.usage, "the access key is empty or has spaces in it")
        }
        return Secret(key)
    }

    private static func read(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .failed, "cannot read the access key from \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: ConfigurationReader.maximumSecretBytes)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0, let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
            throw CommandFailure(.failed, "\(path) holds no access key: it is not text")
        }
        return text
    }
}

/// Where the Web API is: `https`, or `http` on this machine only, because the access key travels with each call.
struct ServerAddress: Hashable {
    /// The address with `/api/v3` and without a slash at its end.
    let text: String
    let isEncrypted: Bool

    init(_ url: String) throws(CommandFailure) {
        var text = url.trimmed
        while text.hasSuffix("/") { text.removeLast() }
        let lower = text.lowercased()
        let scheme = lower.hasPrefix("https://") ? "https://" : lower.hasPrefix("http://") ? "http://" : ""
        var host = lower.dropFirst(scheme.count).prefix { $0 != "/" }
        guard !scheme.isEmpty, !host.isEmpty, !text.contains(where: { $0.isWhitespace || $0 == "?" || $0 == "#" }),
            !host.contains("@")
        else {
            throw CommandFailure(
                .usage, "'\(url)' is not a server address: give one such as https://fleet.example:8443")
        }
        if host.hasPrefix("[") {
            host = host.dropFirst().prefix { $0 != "]" }
        } else {
            host = host.prefix { $0 != ":" }
        }
        isEncrypted = scheme == "https://"
        // A host name may begin with 127, too.
        let isLoopback = host.hasPrefix("127.") && host.allSatisfy { $0.isASCIIDigit || $0 == "." }
        guard isEncrypted || ["localhost", "::1"].contains(host) || isLoopback else {
            throw CommandFailure(
                .usage, "'\(url)' would send the access key unencrypted: give an https:// address")
        }
        self.text = text.lowercased().hasSuffix("/api/v3") ? text : text + "/api/v3"
    }
}

/// The client's own configuration file.
struct ClientFile {
    let url: String?
    let service: Int64?
    let accessKey: Secret?
    let appCode: Secret?
    let authorityFile: String?
    /// The device that this vehicle is, and the mark of the computer for which it was claimed.
    let device: String?
    let machine: String?

    static let places = "~/.config/saker/client.toml or /etc/saker/client.toml"

    /// Reads the first file that exists, nil when none does. Does not open the key's file unless `withKey` is set.
    static func load(explicit: String?, withKey: Bool) throws(CommandFailure) -> ClientFile? {
        let path: String
        if let explicit {
            path = explicit
        } else if let found = candidates.first(where: { access($0, R_OK) == 0 }) {
            path = found
        } else {
            return nil
        }
        do {
            var reader = try ConfigurationReader(path: path)
            let url = reader.optionalString("server", "url")
            let service = reader.optionalInteger("server", "service_id", range: 1...Int(Int32.max))
            var key: Secret?
            if withKey {
                key = reader.secret("server", "ak")
            } else {
                _ = reader.optionalString("server", "ak")
                _ = reader.optionalString("server", "ak_file")
            }
            let appCode = reader.secret("server", "app_code")
            let authority = reader.optionalString("server", "ca_file").map { reader.resolve($0) }
            let device = reader.optionalString("device", "id")
            let machine = reader.optionalString("device", "machine")
            _ = try reader.finish()
            return ClientFile(
                url: url, service: service.map { Int64($0) }, accessKey: key, appCode: appCode,
                authorityFile: authority, device: device, machine: machine)
        } catch {
            throw CommandFailure(.failed, error.sentence)
        }
    }

    private static var candidates: [String] {
        let home = getenv("HOME").map { String(cString: $0) + "/.config" }
        let configuration = getenv("XDG_CONFIG_HOME").map { String(cString: $0) } ?? home
        return [configuration.map { $0 + "/saker/client.toml" }, "/etc/saker/client.toml"].compactMap { $0 }
    }
}
