import ConfigurationFile
import HTTPExchange
import SecureLink
import Terminal

/// Claims an identity with a token: key, request, claim, files.
struct TokenEnrollment {
    let line: EnrollmentString
    let token: Secret
    let key: DeviceKeyChoice
    let machine: MachineIdentity
    let wishedEntity: String?
    let serial: String?
    let directory: VehicleDirectory

    /// Asks until there is a certificate or a reason why there is none; then writes the files.
    func run(_ machine: EnrolmentMachine) async throws -> DeviceFiles {
        let key = try key.open(in: directory)
        let request: String
        do throws(SecureLinkError) {
            request = try key.certificateRequest(name: wishedEntity ?? "saker")
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
        let body = EnrolmentRequest(
            token: token, certificateRequest: request, entity: wishedEntity, serial: serial ?? self.machine.serial,
            machine: self.machine.mark, model: self.machine.model)
        let address = HTTPAddress(host: line.host, port: Int(line.port))
        let (options, pin) = try trust()
        let client = try EnrolmentClient(address, trusting: options)
        let identity = try await client.claim(body.encoded, key: key.publicKey, machine)
        if let strange = identity.strangeWebAddress {
            Output.complain(
                "saker: the server calls its HTTPS address '\(strange)', and \(WebAddress.rule). The vehicle uses \(address). Tell "
                    + "the server's operator: web_address in [enrollment]")
        }
        return DeviceFiles(
            identity: identity, address: address, pin: pin?.description, key: self.key, machine: self.machine.mark,
            directory: directory)
    }

    /// A line without pin is for a server whose certificate is of an authority that systems trust.
    private func trust() throws(CommandFailure) -> (TLSClientOptions, PublicKeyPin?) {
        let pin: PublicKeyPin?
        switch line.trust {
        case .system: return (.web(.systemRoots, serverName: line.serverName), nil)
        case .pinnedKey(let digest): pin = PublicKeyPin(digest: digest)
        case .certificate(let der):
            // The server shows its authority, so the authority's key says as much as its certificate.
            pin = (try? CertificateFile(pem: Array(PEM.encoded(der).utf8), name: "the line's certificate"))?.key
        }
        guard let pin else {
            throw CommandFailure(.failed, "the line holds no usable key of the server: make a new line")
        }
        return (.web(.pinnedKeys, pins: [pin], serverName: line.serverName), pin)
    }
}
