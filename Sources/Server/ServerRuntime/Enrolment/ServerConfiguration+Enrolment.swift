package import ConfigurationFile
import Crypto
import SwiftASN1
package import TrackModel
import X509

// What this server tells the vehicles that it enrols.
extension ServerConfiguration {
    /// Under which name and port devices reach this server.
    func devicePlace() throws(ServerError) -> (host: String, port: Int) {
        guard let host = enrolment.host else {
            throw ServerError(
                .configuration,
                "\(effective.path): host in [enrollment] is not set: write there under which name agents reach this server"
            )
        }
        let port = enrolment.port ?? device.port
        guard (1...65_535).contains(port) else {
            throw ServerError(
                .configuration,
                "\(effective.path): the device port is 0 (the kernel chooses), so agents cannot be told it: set port in "
                    + "[enrollment] or [device]")
        }
        return (host, port)
    }

    /// The base address of the Web API; nil when there is none.
    var toldWebAddress: String? {
        if let address = enrolment.webAddress { return address }
        guard let host = enrolment.host, let https = web.https, https.port > 0 else { return nil }
        return "https://\(host.contains(":") ? "[\(host)]" : host):\(https.port)"
    }

    /// The line with which vehicles claim their identities at this server.
    package func enrolmentString(token: Secret) throws(ServerError) -> EnrolmentString {
        let (host, _) = try devicePlace()
        guard let https = web.https else {
            throw ServerError(
                .configuration,
                "\(effective.path): https in [web] is false, and tokens are taken over HTTPS alone: set it to true, and "
                    + "restart the server")
        }
        guard let port = UInt16(exactly: toldPort(of: host) ?? https.port), port > 0 else {
            throw ServerError(
                .configuration,
                "\(effective.path): the port of HTTPS is 0 (the kernel chooses), so vehicles cannot be told it: set https_port "
                    + "in [web]")
        }
        guard device.authority != nil else {
            throw ServerError(
                .configuration,
                "\(effective.path) names no authority in [device], so no vehicle can get a certificate: `saker-server device "
                    + "authority` makes one")
        }
        var trust = EnrolmentString.Trust.system
        if let authority = tls.authority {
            trust = .pinnedKey(
                try CertificateMaker.pin(of: try TextFile.read(authority), over: try TextFile.read(tls.certificate)))
        }
        return EnrolmentString(host: host, port: port, token: token, trust: trust)
    }

    /// The port of `web_address`, when it is an address of this host: a router in front may have another one.
    private func toldPort(of host: String) -> Int? {
        guard let address = enrolment.webAddress.flatMap({ WebAddress($0) }),
            address.host.lowercased() == host.lowercased()
        else { return nil }
        return address.port
    }
}

extension CertificateMaker {
    /// SHA-256 of the public key of the one authority that has signed a chain. Both in PEM.
    static func pin(of authorities: String, over chain: String) throws(ServerError) -> [UInt8] {
        let (known, served) = (try certificates(authorities), try certificates(chain))
        guard let top = served.last else { throw ServerError(.certificate, "the file of the certificate has none") }
        let signer = known.first { authority in
            authority == top
                || authority.subject == top.issuer && authority.publicKey.isValidSignature(top.signature, for: top)
        }
        guard let signer else {
            throw ServerError(
                .certificate,
                "the certificate of the server is not signed by ca in [tls], so vehicles would not trust it: correct either "
                    + "in [tls]")
        }
        do {
            return Array(SHA256.hash(data: try signer.publicKey.serializeAsPEM().derBytes))
        } catch {
            throw ServerError(.certificate, "the key of the authority cannot be written: \(error)")
        }
    }

    private static func certificates(_ pem: String) throws(ServerError) -> [Certificate] {
        do {
            return try PEMDocument.parseMultiple(pemString: pem).filter { $0.discriminator == "CERTIFICATE" }
                .map { try Certificate(pemDocument: $0) }
        } catch {
            throw ServerError(.certificate, "the certificate cannot be read: \(error)")
        }
    }
}

extension ServerConfiguration {
    /// What an agent needs to log in to a service with a key, as one line.
    package func enrolmentString(service: ServiceID, accessKey: Secret) throws(ServerError) -> EnrolmentString {
        let (host, port) = try devicePlace()
        var trust = EnrolmentString.Trust.system
        if let authority = tls.authority {
            let der = try CertificateMaker.der(of: try TextFile.read(authority))
            guard der.count <= EnrolmentString.maximumCertificateBytes else {
                throw ServerError(
                    .certificate,
                    "\(authority) has \(der.count) bytes, an enrolment string takes at most "
                        + "\(EnrolmentString.maximumCertificateBytes): enrol agents with a configuration file instead")
            }
            trust = .certificate(der)
        }
        return EnrolmentString(
            host: host, port: UInt16(clamping: port), webAddress: toldWebAddress,
            service: service.rawValue,
            accessKey: accessKey, trust: trust)
    }
}
