package import ConfigurationFile
package import TrackModel

extension ServerConfiguration {
    /// What an agent needs to log in to a service with a key, as one line.
    package func enrollmentString(service: ServiceID, accessKey: Secret) throws(ServerError) -> EnrollmentString {
        guard let host = enrollment.host else {
            throw ServerError(
                .configuration,
                "\(effective.path): host in [enrollment] is not set: write there under which name agents reach this server"
            )
        }
        let port = enrollment.port ?? device.port
        guard let port = UInt16(exactly: port), port > 0 else {
            throw ServerError(
                .configuration,
                "\(effective.path): the device port is 0 (the kernel chooses), so agents cannot be told it: set port in "
                    + "[enrollment] or [device]")
        }
        var trust = EnrollmentString.Trust.system
        if let authority = tls.authority {
            let der = try CertificateMaker.der(of: try TextFile.read(authority))
            guard der.count <= EnrollmentString.maximumCertificateBytes else {
                throw ServerError(
                    .certificate,
                    "\(authority) has \(der.count) bytes, an enrolment string takes at most "
                        + "\(EnrollmentString.maximumCertificateBytes): enrol agents with a configuration file instead")
            }
            trust = .certificate(der)
        }
        return EnrollmentString(
            host: host, port: port, webAddress: enrollment.webAddress ?? usualWebAddress(host),
            service: service.rawValue,
            accessKey: accessKey, trust: trust)
    }

    private func usualWebAddress(_ host: String) -> String? {
        guard let https = web.https, https.port > 0 else { return nil }
        return "https://\(host.contains(":") ? "[\(host)]" : host):\(https.port)"
    }
}
