import ConfigurationFile
import Glibc
import SecureLink

/// Reads the paths of the configuration. sakerd judges the file, because only sakerd knows every key.
enum ConfigurationProbe {
    static let systemPath = "/etc/saker/agent.toml"
    /// Sentences that are shown.
    private static let maximumProblems = 8

    static func facts(path: String, program: String?) async -> ConfigurationFacts {
        guard access(path, R_OK) == 0 else {
            // A directory that may not be entered hides whether there is a file.
            return errno == ENOENT ? .missing : .forbidden
        }
        let places: ConfiguredPlaces
        do {
            places = try read(path)
        } catch {
            return .invalid(error.problems.map(\.description), nil)
        }
        // Without them sakerd would miss a key that is there.
        if let hidden = places.credentials.first(where: { !isVisible($0) }) {
            return .unjudged(places, "\(path) is readable, but this user may not read \(hidden)")
        }
        guard let program else {
            return .unjudged(places, "\(path) is readable, but sakerd, which checks the keys, is not installed")
        }
        // As systemd hands the credentials over; without them a key that is only there would be missing.
        let credentials = "\(directory(path))/credentials"
        let environment =
            getenv("CREDENTIALS_DIRECTORY") == nil && access(credentials, X_OK) == 0
            ? ["env", "CREDENTIALS_DIRECTORY=\(credentials)"] : []
        guard let answer = await CommandProbe.run(environment + [program, "--config", path, "--check"]) else {
            return .unjudged(places, "\(program) --check does not end")
        }
        let lines = answer.text.split(separator: "\n").map(String.init)
        if answer.status == 0 {
            let prefix = "sakerd: "
            return .valid(
                places, warnings: lines.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
        }
        return .invalid(
            Array(lines.filter { !$0.hasPrefix("sakerd: the ") }.prefix(maximumProblems)), places)
    }

    private static func read(_ path: String) throws(ConfigurationError) -> ConfiguredPlaces {
        var reader = try ConfigurationReader(path: path)
        let authority = reader.optionalString("server", "ca_file")
        let certificate = reader.optionalString("server", "client_certificate")
        let key = reader.optionalString("server", "client_key")
        var credentials: [String] = []
        for name in ["ak_file", "app_code_file"] {
            if let file = reader.optionalString("service", name) { credentials.append(reader.resolve(file)) }
        }
        if credentials.isEmpty { credentials.append("\(directory(path))/credentials/ak") }
        if let key, !key.contains(":") {
            credentials.append(VehicleIdentity.place(ofKey: key, reader, VehicleDirectory(of: path)))
        }
        return ConfiguredPlaces(
            host: reader.requiredString("server", "host"),
            port: reader.integer("server", "port", default: 7443, range: 1...65535),
            authorityFile: authority.map { reader.resolve($0) },
            clientCertificateFile: certificate.map { reader.resolve($0) },
            gpsdHost: reader.string("gnss", "host", default: "127.0.0.1"),
            gpsdPort: reader.integer("gnss", "port", default: 2947, range: 1...65535),
            device: reader.optionalString("gnss", "device"),
            cacheDirectory: reader.string("cache", "directory", default: "/var/lib/saker/cache"),
            stateDirectory: reader.string("state", "directory", default: "/var/lib/saker"),
            credentials: credentials)
    }

    /// False when this user may not even see whether there is a file, or not read it.
    private static func isVisible(_ path: String) -> Bool { access(path, R_OK) == 0 || errno != EACCES }

    private static func directory(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}

/// When the certificates of a file are valid.
enum ClientCertificateProbe {
    static func facts(_ path: String) -> ClientCertificateFacts {
        guard access(path, R_OK) == 0 else {
            let number = errno
            return ClientCertificateFacts(
                path: path, content: number == EACCES ? .forbidden : .unreadable(String(cString: strerror(number))))
        }
        do throws(SecureLinkError) {
            let validity = try CertificateFile(path: path).validity
            return ClientCertificateFacts(path: path, content: .validity(from: validity.from, until: validity.until))
        } catch {
            return ClientCertificateFacts(path: path, content: .unreadable("holds no certificate in PEM form"))
        }
    }
}

/// What makes this vehicle a device of its server: certificate, key, and the computer for which they were claimed.
struct IdentityFacts: Hashable {
    enum Key: Hashable {
        case fits
        /// It is there and is the key of another certificate.
        case foreign
        /// This user may not read it.
        case hidden
        case unusable(String)
    }

    /// Nil when the certificate cannot be read, which another check says.
    var plan: RenewalPlan?
    var key: Key
    /// As client.toml says; nil for an identity that was not claimed with a token.
    var device: String?
    var hasWebAddress: Bool
    /// Nil when nobody noted it, or this user may not read what tells computers apart.
    var isOnAnotherComputer: Bool?
}

enum IdentityProbe {
    /// Nil when the vehicle has no certificate of its own, or its configuration cannot be read.
    static func facts(configuration: String) -> IdentityFacts? {
        guard access(configuration, R_OK) == 0,
            let vehicle = (try? VehicleIdentity(configuration: configuration)).flatMap(\.self)
        else { return nil }
        let certificate = try? vehicle.certificate()
        let client = VehicleDirectory(of: configuration).path("client.toml")
        let noted = access(client, R_OK) == 0 ? try? ClientFile.load(explicit: client, withKey: false) : nil
        var isOther: Bool?
        // Only root may read the computer's UUID, and only with it the mark is the noted one.
        if geteuid() == 0, let mark = noted?.machine, let own = try? MachineIdentity().mark { isOther = mark != own }
        return IdentityFacts(
            plan: certificate.map { RenewalPlan($0.leaf) }, key: key(of: vehicle, certificate), device: noted?.device,
            hasWebAddress: vehicle.webAddress != nil, isOnAnotherComputer: isOther)
    }

    private static func key(of vehicle: VehicleIdentity, _ certificate: CertificateFile?) -> IdentityFacts.Key {
        switch vehicle.key {
        case .file(let path):
            if access(path, R_OK) != 0, errno == EACCES { return .hidden }
            do throws(SecureLinkError) {
                let key = try DeviceKey.open(vehicle.key).publicKey
                return certificate == nil || certificate?.key == key ? .fits : .foreign
            } catch {
                return .unusable(error.detail)
            }
        // A token asks for its PIN and locks after a few wrong ones: the agent alone tries it, and `tls` tells the result.
        case .store: return .fits
        }
    }
}
