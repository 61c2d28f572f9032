package import ConfigurationFile
package import TrackModel

extension ServerConfiguration {
    /// What an agent needs to log in to a service with a key, as one line.
    package func enrollmentString(service: ServiceID, accessKey: Secret) throws(ServerError) -> EnrollmentString {
        let (host, port) = try devicePlace()
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
            host: host, port: UInt16(clamping: port), webAddress: toldWebAddress,
            service: service.rawValue,
            accessKey: accessKey, trust: trust)
    }
}
