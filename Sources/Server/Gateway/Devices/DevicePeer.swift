import NIOSSL
import TrackStore

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
    init?(_ certificate: NIOSSLCertificate) {
        let names = certificate._subjectAlternativeNames().filter { $0.nameType == .uri }
        let found = names.compactMap { name in
            DeviceID(uri: name.contents.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
        }
        guard found.count == 1, let id = found.first, let key = try? certificate.extractPublicKey().toSPKIBytes() else {
            return nil
        }
        self.init(id: id, keyHash: DeviceRecord.keyHash(of: key))
    }
}
