import SecureLink
import TrackModel
import TrackStore
import TrackWire

/// What the store says of a device that logs in.
enum DeviceRules {
    /// Seconds until a refused device may try again: a person must do something first.
    static let revokedRetryAfter: UInt32 = 3600

    /// `device`: of the certificate; nil when the store does not know it.
    ///
    /// - Throws: ``LoginRefusal`` with the reason why it may not log in so.
    static func check(
        _ device: DeviceRecord?, _ peer: DevicePeer, for request: LoginRequest
    ) throws(LoginRefusal) -> DeviceRecord {
        guard let device else {
            throw LoginRefusal(
                .authentication,
                "the server does not know the device \(peer.id) of this certificate: enrol the vehicle again",
                retryAfter: revokedRetryAfter)
        }
        guard device.keyHash == peer.keyHash else {
            throw LoginRefusal(
                .authentication,
                "the certificate has another key than the device \(peer.id) has: enrol the vehicle again",
                retryAfter: revokedRetryAfter)
        }
        guard device.state == .active else {
            throw LoginRefusal(
                .revoked,
                "the operator has revoked this device (\(peer.id)): it may log in again when the operator approves it",
                retryAfter: revokedRetryAfter)
        }
        guard device.service == request.service else {
            throw LoginRefusal(
                .parameter,
                "the device belongs to service \(device.service.rawValue), not to \(request.service.rawValue): correct id in "
                    + "[service]")
        }
        guard device.entity.utf8.elementsEqual(request.entity.utf8) else {
            // An agent that knows the field takes the name by itself; the words are for the others.
            throw LoginRefusal(
                .parameter,
                "the device is \(device.entity), not \(request.entity): on the vehicle, saker service stop, then saker "
                    + "service start --entity \(device.entity)", entity: device.entity)
        }
        return device
    }

    /// `devices`: which are the entity of a login with an access key. The certificate of a stolen box that was revoked would
    /// mean nothing if the box could go on with a key. One that never was approved holds nobody off.
    static func checkKey(for request: LoginRequest, _ devices: [DeviceRecord]) throws(LoginRefusal) {
        let isDevice = devices.contains { device in
            switch device.state {
            case .active: true
            case .revoked: device.claim == nil || device.issued != nil
            case .pending: false
            }
        }
        guard !isDevice else {
            throw LoginRefusal(
                .authentication,
                "\(request.entity) is a device with a certificate: use its certificate in place of the access key, or let the "
                    + "operator forget the device")
        }
    }

    /// Why an open session of a device must end; nil when it may go on.
    static func problem(with device: DeviceRecord?, in session: SessionInfo) -> String? {
        guard let device else { return "the device was forgotten" }
        guard device.state == .active else { return "the device was revoked" }
        guard device.service == session.service, device.entity.utf8.elementsEqual(session.entity.utf8) else {
            return "the device is another entity now"
        }
        return nil
    }
}

/// Whose certificate the peer of a connection has shown: TLS has verified it. The store knows what the device may do.
struct DevicePeer: Hashable, Sendable {
    let id: DeviceID
    /// SHA-256 of the public key: see ``DeviceRecord/keyHash``.
    let keyHash: [UInt8]

    init(id: DeviceID, keyHash: [UInt8]) {
        self.id = id
        self.keyHash = keyHash
    }

    /// Nil for a certificate that names no device, or more than one.
    init?(_ certificate: TLSClientCertificate) {
        let found = certificate.uris.compactMap { DeviceID(uri: $0) }
        guard found.count == 1, let id = found.first else { return nil }
        self.init(id: id, keyHash: DeviceRecord.keyHash(of: certificate.key))
    }
}
