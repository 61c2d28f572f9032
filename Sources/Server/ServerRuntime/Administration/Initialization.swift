package import ConfigurationFile
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
        package let enrollment: EnrollmentString?
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

    /// Refuses to touch what is there; when it fails, what it has made is removed.
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
        try checkOwner()
        let store = "tracks.sqlite"
        for name in files.map(\.name) + [store] where access(path(name), F_OK) == 0 {
            throw ServerError(
                .exists, "\(path(name)) exists already: this directory holds a server; choose another, or remove it")
        }
        var made: [String] = []
        do throws(ServerError) {
            for file in files {
                made.append(path(file.name))
                try write(file)
            }
            made += ["", "-wal", "-shm"].map { path(store) + $0 }
            let administration = try await ServiceAdministration(store: StoreFactory.make(at: path(store)))
            let key = try await administration.create(
                named: name, isSigned: false, isForLegacyDevices: isForLegacyDevices)
            let (enrollment, token) = try await vehicles(key, administration)
            let described = files.map { ($0.name, $0.purpose) } + [(store, "the database")]
            return Result(
                configurationPath: path("server.toml"), files: described, service: key.service,
                accessKey: key.accessKey, enrollment: enrollment, token: token)
        } catch {
            for path in made { unlink(path) }
            throw error
        }
    }

    /// With what the first vehicles join.
    private func vehicles(
        _ key: ServiceAdministration.NewKey, _ administration: ServiceAdministration
    ) async throws(ServerError) -> (EnrollmentString?, TokenRecord?) {
        let configuration = try loadConfiguration()
        // A server that nobody can be told is of no use, with or without a token.
        _ = try configuration.devicePlace()
        if isForLegacyDevices {
            return (try configuration.enrollmentString(service: key.service, accessKey: key.accessKey), nil)
        }
        guard httpsPort != 0 else { return (nil, nil) }
        var wish = ServiceAdministration.TokenWish()
        wish.uses = Self.tokenUses
        wish.end = ServiceAdministration.TokenWish.usualEnd
        wish.note = "made by init"
        let (token, line) = try await administration.createToken(for: key.service.rawValue, wish, configuration)
        return (line, token)
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    private func makeDirectory() throws(ServerError) {
        guard mkdir(directory, 0o750) != 0, errno != EEXIST else { return }
        let reason =
            errno == ENOENT ? "its parent directory does not exist" : String(cString: strerror(errno))
        throw ServerError(.configuration, "\(directory) cannot be made: \(reason)")
    }

    /// Files of root in the directory of the server's user: the server could not read its keys.
    private func checkOwner() throws(ServerError) {
        guard geteuid() == 0, let number = FileStatus(of: directory)?.owner, number != 0 else { return }
        let owner = getpwuid(number).map { String(cString: $0.pointee.pw_name) } ?? "#\(number)"
        throw ServerError(
            .usage,
            "\(directory) belongs to the user \(owner), who could not read the files of root: sudo -u \(owner) saker-server init …"
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

    private func loadConfiguration() throws(ServerError) -> ServerConfiguration {
        do throws(ConfigurationError) {
            return try ServerConfiguration.load(path: path("server.toml"))
        } catch {
            throw ServerError(error)
        }
    }
}
