import Crypto
package import TrackModel

/// A box with a key of its own, as the store knows it. The store says which entity the box is.
package struct DeviceRecord: Hashable, Sendable {
    package enum State: Int64, Hashable, Sendable, CaseIterable {
        case active = 0
        /// Refused at the login until somebody approves it again.
        case revoked = 1
    }

    /// What the last login said.
    package struct Sighting: Hashable, Sendable {
        package var time: Timestamp
        package var address: String
        package var agentVersion: String

        package init(time: Timestamp, address: String, agentVersion: String) {
            (self.time, self.address, self.agentVersion) = (time, address, agentVersion)
        }
    }

    package var id: DeviceID
    package var service: ServiceID
    /// What the device logs in as.
    package var entity: String
    /// What the device logged in as before, oldest first: its cache may have points of these.
    package var formerEntities: [String]
    /// For people; may be empty.
    package var name: String
    package var state: State
    /// SHA-256 of the public key (the DER of its SubjectPublicKeyInfo), 32 bytes. Another key of a certificate is refused.
    package var keyHash: [UInt8]
    package var created: Timestamp
    /// The end of the certificate that was issued last.
    package var certificateEnd: Timestamp
    package var sighting: Sighting?

    package init(
        id: DeviceID, service: ServiceID, entity: String, formerEntities: [String] = [], name: String = "",
        state: State = .active, keyHash: [UInt8], created: Timestamp, certificateEnd: Timestamp,
        sighting: Sighting? = nil
    ) {
        self.id = id
        self.service = service
        self.entity = entity
        self.formerEntities = formerEntities
        self.name = name
        self.state = state
        self.keyHash = keyHash
        self.created = created
        self.certificateEnd = certificateEnd
        self.sighting = sighting
    }

    /// What ``keyHash`` is, of the DER of a SubjectPublicKeyInfo.
    package static func keyHash(of publicKey: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: publicKey)) }

    /// Most entities that a device remembers; the oldest is forgotten first.
    package static let mostFormerEntities = 16

    /// Makes the device another entity.
    package mutating func move(to entity: String) {
        guard !entity.utf8.elementsEqual(self.entity.utf8) else { return }
        formerEntities.removeAll { $0.utf8.elementsEqual(entity.utf8) || $0.utf8.elementsEqual(self.entity.utf8) }
        formerEntities = Array((formerEntities + [self.entity]).suffix(Self.mostFormerEntities))
        self.entity = entity
    }
}

/// A change of a device by an administrator.
package enum DeviceChange: Hashable, Sendable {
    case name(String)
    case entity(String)
    case state(DeviceRecord.State)
    /// Another certificate, which may have another key.
    case certificate(keyHash: [UInt8], end: Timestamp)
}
