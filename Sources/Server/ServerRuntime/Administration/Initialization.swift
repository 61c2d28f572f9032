package import ConfigurationFile
import DirectoryAccess
import FoundationEssentials
import Glibc
package import TrackModel
package import TrackStore

/// `saker-server init`: everything a server needs to be started and its first vehicle to be enrolled.
package struct Initialization: Sendable {
    /// Takes the files; made with mode 0750 when missing.
    package var directory: String
    /// Of the first service.
    package var name: String
    /// Names and addresses under which agents and clients reach the server; the first goes into enrolment strings.
    package var hosts: [String]
    /// PEM files to use instead of making a private authority.
    package var certificate: String?
    package var key: String?
    /// What agents trust with a given certificate; nil: the authorities of their systems.
    package var authority: String?
    package var devicePort: Int?
    package var httpsPort: Int?
    package var httpPort: Int?
    /// Vehicles log in with the access key, and there is no token.
    package var isForLegacyDevices = false

    package init(directory: String, name: String, hosts: [String]) {
        self.directory = directory
        self.name = name
        self.hosts = hosts
    }

    package struct Result: Sendable {
        package let configurationPath: String
        /// Names of the files made, with what each is for.
        package let files: [(name: String, purpose: String)]
        package let service: ServiceID
        package let accessKey: Secret
        /// The line for the first vehicles; nil without HTTPS, over which tokens are taken.
        package let enrolment: EnrolmentString?
        /// Whose line it is; nil: the access key's.
        package let token: TokenRecord?
    }

    /// How many vehicles the first token is for.
    package static let tokenUses = 100

    private struct File {
        var name: String
        var purpose: String
        var content: String
        var mode: mode_t
    }

    /// There while `init` is at work, with the names of what it makes, one a line. What an `init` that was cut has left is of no
    /// use to anybody: the configuration is written last, and without it no server starts.
    static let unfinished = "init-unfinished"
    private static let store = "tracks.sqlite"
    private static let configuration = "server.toml"

    /// Refuses to touch what is there; when it fails, what it has made is removed. After a power cut at any moment there is a server
    /// that starts, or none, and the same command begins anew.
    package func run() async throws(ServerError) -> Result {
        guard !hosts.isEmpty else {
            throw ServerError(.usage, "no host: say with --host under which name or address agents reach this server")
        }
        guard (certificate == nil) == (key == nil) else {
            throw ServerError(.usage, "--certificate and --key go together")
        }
        guard authority == nil || certificate != nil else {
            throw ServerError(.usage, "--ca goes with --certificate and --key: without them an authority is made")
        }
        _ = try ServiceAdministration.checked(name)
        let files = try files()
        try makeDirectory()
        try checkOwner(directory)
        try removeUnfinished(files.map(\.name))
        for name in files.map(\.name) + [Self.store] where access(path(name), F_OK) == 0 {
            throw ServerError(
                .exists, "\(path(name)) exists already: this directory holds a server; choose another, or remove it")
        }
        try write(
            File(
                name: Self.unfinished, purpose: "", content: names(files).joined(separator: "\n") + "\n", mode: 0o600))
        var made: [String] = [path(Self.unfinished)]
        do throws(ServerError) {
            for file in files where file.name != Self.configuration {
                made.append(path(file.name))
                try write(file)
            }
            made += Self.storeFiles.map(path)
            let administration = try await ServiceAdministration(store: StoreFactory.make(at: path(Self.store)))
            let key = try await administration.create(
                named: name, isSigned: false, isForLegacyDevices: isForLegacyDevices)
            let text = files.first { $0.name == Self.configuration }?.content ?? ""
            let (enrolment, token) = try await vehicles(key, administration, try readConfiguration(text))
            made.append(path(Self.configuration))
            for file in files where file.name == Self.configuration { try write(file) }
            unlink(path(Self.unfinished))
            let described = files.map { ($0.name, $0.purpose) } + [(Self.store, "the database")]
            return Result(
                configurationPath: path(Self.configuration), files: described, service: key.service,
                accessKey: key.accessKey, enrolment: enrolment, token: token)
        } catch {
            for path in made { unlink(path) }
            throw error
        }
    }

    private static let storeFiles = ["", "-wal", "-shm", "-journal"].map { store + $0 }

    private func names(_ files: [File]) -> [String] { files.map(\.name) + Self.storeFiles }

    /// What an earlier `init` has left that was cut before it wrote the configuration. Removes only what this `init` would make.
    private func removeUnfinished(_ names: [String]) throws(ServerError) {
        let note = path(Self.unfinished)
        guard access(note, F_OK) == 0 else { return }
        if access(path(Self.configuration), F_OK) != 0 {
            let made = try TextFile.read(note).split(separator: "\n").map(String.init)
            for name in made where names.contains(name) || Self.storeFiles.contains(name) { unlink(path(name)) }
        }
        unlink(note)
    }

    /// With what the first vehicles join.
    private func vehicles(
        _ key: ServiceAdministration.NewKey, _ administration: ServiceAdministration,
        _ configuration: ServerConfiguration
    ) async throws(ServerError) -> (EnrolmentString?, TokenRecord?) {
        // A server that nobody can be told is of no use, with or without a token.
        _ = try configuration.devicePlace()
        if isForLegacyDevices {
            return (try configuration.enrolmentString(service: key.service, accessKey: key.accessKey), nil)
        }
        guard httpsPort != 0 else { return (nil, nil) }
        var wish = ServiceAdministration.TokenOptions()
        wish.uses = Self.tokenUses
        wish.end = ServiceAdministration.TokenOptions.usualEnd
        wish.note = "made by init"
        let (token, line) = try await administration.createToken(for: key.service.rawValue, wish, configuration)
        return (line, token)
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    private func makeDirectory() throws(ServerError) {
        // Whoever can change the parent could put a link there before the first file is written.
        try checkOwner(DirectoryHandle.parts(of: directory).directory)
        guard mkdir(directory, 0o750) != 0, errno != EEXIST else { return }
        let reason =
            errno == ENOENT ? "its parent directory does not exist" : String(cString: strerror(errno))
        throw ServerError(.configuration, "\(directory) cannot be made: \(reason)")
    }

    /// Files of root in the directory of the server's user: the server could not read its keys, and that user could lead root's
    /// writing elsewhere.
    private func checkOwner(_ path: String) throws(ServerError) {
        guard geteuid() == 0 else { return }
        let found: Set<UInt32>
        do throws(FileTrouble) {
            found = try DirectoryHandle(path).others
        } catch {
            // What is not there cannot be made either.
            guard !error.isAbsence else { return }
            throw ServerError(.usage, "\(error.path): \(error.reason)")
        }
        guard let number = found.min() else { return }
        guard number != DirectoryHandle.anybody else {
            throw ServerError(
                .usage,
                "\(path) can be changed by other users than root: choose another directory, or take the right to write from them"
            )
        }
        let owner = WorkingUser.name(number)
        throw ServerError(
            .usage,
            "\(path) belongs to the user \(owner), who could not read the files of root: sudo -u \(owner) saker-server init …"
        )
    }

    private func files() throws(ServerError) -> [File] {
        var settings: [(table: String, key: String, value: String)] = [
            ("enrollment", "host", TOMLText.quoted(hosts[0]))
        ]
        for (table, key, port) in [
            ("device", "port", devicePort), ("web", "https_port", httpsPort), ("web", "http_port", httpPort),
        ] {
            if let port { settings.append((table, key, String(port))) }
        }
        settings.append(("device", "authority", TOMLText.quoted(DeviceAuthority.certificateName)))
        let devices = try DeviceAuthority.make(named: name, at: Date())
        var files = [
            File(
                name: DeviceAuthority.certificateName, purpose: "the authority of vehicles' own certificates",
                content: devices.certificate, mode: 0o644),
            File(name: DeviceAuthority.keyName, purpose: "its key", content: devices.key, mode: 0o600),
        ]
        if let certificate, let key {
            _ = try CertificateMaker.details(of: try TextFile.read(certificate))
            settings.append(("tls", "certificate", TOMLText.quoted(absolute(certificate))))
            settings.append(("tls", "key", TOMLText.quoted(absolute(key))))
            if let authority { settings.append(("tls", "ca", TOMLText.quoted(absolute(authority)))) }
        } else {
            let date = Date()
            let authority = try CertificateMaker.authority(named: name, at: date)
            let server = try CertificateMaker.server(hosts: hosts, signedBy: authority, at: date)
            settings.append(("tls", "ca", TOMLText.quoted("ca.pem")))
            files += [
                File(name: "ca.pem", purpose: "the fleet's own authority", content: authority.certificate, mode: 0o644),
                File(
                    name: "ca-key.pem",
                    purpose: "its key; signs renewed certificates, may be kept elsewhere until then",
                    content: authority.key, mode: 0o600),
                File(name: "server.pem", purpose: "the server's certificate", content: server.certificate, mode: 0o644),
                File(name: "server-key.pem", purpose: "its key", content: server.key, mode: 0o600),
            ]
        }
        let configuration = ServerSample.text(setting: settings)
        files.append(
            File(
                name: "server.toml", purpose: "the configuration; explains every key", content: configuration,
                mode: 0o640))
        return files
    }

    private func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return "\(String(cString: here))/\(path)"
    }

    private func write(_ file: File) throws(ServerError) {
        do throws(ConfigurationError) {
            try AtomicFile.write(Array(file.content.utf8), to: path(file.name), mode: file.mode, replacing: false)
        } catch {
            throw ServerError(error)
        }
    }

    private func readConfiguration(_ text: String) throws(ServerError) -> ServerConfiguration {
        do throws(ConfigurationError) {
            return try ServerConfiguration.read(ConfigurationReader(text: text, path: path(Self.configuration)))
        } catch {
            throw ServerError(error)
        }
    }
}
