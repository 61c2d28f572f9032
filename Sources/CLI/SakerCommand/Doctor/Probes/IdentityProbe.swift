import Glibc
import SecureLink

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
