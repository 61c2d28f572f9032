import Crypto
package import TrackModel

/// A box with a key of its own, as the store knows it. The store says which entity the box is.
package struct DeviceRecord: Hashable, Sendable {
    package enum State: Int64, Hashable, Sendable, CaseIterable {
        case active = 0
        /// Refused at the login until somebody approves it again.
        case revoked = 1
        /// Claimed with a token, and refused until somebody approves it.
        case pending = 3
    }

    /// What the box said when it claimed its identity with a token.
    package struct Claim: Hashable, Sendable {
        /// Of ``TokenRecord``.
        package var token: Int64
        package var serial: String?
        /// For people; may be empty.
        package var model: String
        /// Where the first claim came from.
        package var address: String

        package init(token: Int64, serial: String? = nil, model: String = "", address: String = "") {
            (self.token, self.serial, self.model, self.address) = (token, serial, model, address)
        }
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
    /// When the server made a certificate by itself last, without a person; nil: it never did.
    package var issued: Timestamp?
    /// Names the machine that the box is, 32 bytes; nil: unknown.
    package var machine: [UInt8]?
    /// Nil: a person added the device.
    package var claim: Claim?
    package var sighting: Sighting?
    /// When a login was refused last because two computers are this device; nil: never since it was approved or claimed.
    package var cloned: Timestamp?
    /// It has proved its key at a renewal, or said at its claim that it will: a renewal without the proof is refused.
    package var proves: Bool

    package init(
        id: DeviceID, service: ServiceID, entity: String, formerEntities: [String] = [], name: String = "",
        state: State = .active, keyHash: [UInt8], created: Timestamp, certificateEnd: Timestamp,
        issued: Timestamp? = nil, machine: [UInt8]? = nil, claim: Claim? = nil, sighting: Sighting? = nil,
        cloned: Timestamp? = nil, proves: Bool = false
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
        self.issued = issued
        self.machine = machine
        self.claim = claim
        self.sighting = sighting
        self.cloned = cloned
        self.proves = proves
    }

    /// What ``keyHash`` is, of the DER of a SubjectPublicKeyInfo.
    package static func keyHash(of publicKey: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: publicKey)) }

    /// The device that a claim makes. A pending one has no certificate: its end is the time of the claim.
    package init(_ claim: ClaimRequest, token: TokenRecord, entity: String, state: State, at now: Timestamp) {
        self.init(
            id: claim.device, service: token.service, entity: entity, state: state, keyHash: claim.keyHash,
            created: now,
            certificateEnd: state == .active ? claim.certificateEnd : now, issued: state == .active ? now : nil,
            machine: claim.machine,
            claim: Claim(
                token: token.number, serial: claim.serial, model: claim.model, address: claim.address),
            proves: claim.proves)
    }

    /// Approves or shuts out. Who approves has put the device in order.
    package mutating func enter(_ state: State) {
        self.state = state
        if state == .active { cloned = nil }
    }

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

extension TrackStoreError {
    /// `holder`: the device that is the entity.
    package static func entityTaken(_ entity: String, by holder: DeviceID) -> TrackStoreError {
        TrackStoreError(
            .entityTaken,
            "another device is \(entity) already: revoke or move \(holder) first, because two boxes with one name shut each "
                + "other out")
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

/// The name of a device that never changes: 128 bits, written as a UUID. The certificate of the device has it.
package struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    /// What the URI of a certificate begins with, before the UUID.
    package static let uriPrefix = "saker:device:"

    /// Sixteen.
    package let bytes: [UInt8]

    /// Nil when it is not 16 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// A new one (RFC 9562, version 4).
    package static func random(using generator: inout some RandomNumberGenerator) -> DeviceID {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return DeviceID(unchecked: bytes)
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// 36 characters, as in `0190163d-8694-4f2b-8c1d-0e5a2b7c9d31`. Nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        let digits = parts.joined().utf8.compactMap(Self.digit)
        guard digits.count == 32 else { return nil }
        bytes = stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The device whose certificate has this URI. Nil for a URI of another kind.
    package init?(uri: some StringProtocol) {
        guard uri.hasPrefix(Self.uriPrefix) else { return nil }
        self.init(uri.dropFirst(Self.uriPrefix.count))
    }

    package var uri: String { Self.uriPrefix + description }

    package var description: String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
