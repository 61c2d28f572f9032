import Crypto
package import TrackModel

/// Tokens, and the devices that are claimed with them.
package protocol EnrolmentStore: Sendable {
    /// Adds a token, and returns it with its number. Throws `.unknownService`, and `.tokenExists` when there is one of this hash.
    func addToken(_ token: NewToken, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord
    /// Nil when there is no such token.
    func token(matching hash: TokenHash) async throws(TrackStoreError) -> TokenRecord?
    /// In the order of their numbers, ended ones too.
    func tokens(in service: ServiceID?) async throws(TrackStoreError) -> [TokenRecord]
    /// Ends a token, and returns it. Again it changes nothing. Throws `.unknownToken`.
    func revokeToken(_ number: Int64, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord
    /// Revokes devices that were claimed with a token, pending ones too, in one transaction: the oldest, at most `limit`. Returns
    /// them as they are then; empty when none is left.
    func revokeDevices(ofToken number: Int64, limit: Int) async throws(TrackStoreError) -> [DeviceRecord]
    /// Decides a claim by ``ClaimRules`` and does what follows, in one transaction: counts the use, makes the device, and makes
    /// its entity when a certificate is issued and there is none.
    func claim(_ request: ClaimRequest, at now: Timestamp) async throws(TrackStoreError) -> ClaimOutcome
    /// Decides a renewal by ``RenewalRules``, and notes the end of the new certificate.
    func renew(_ request: RenewalRequest, at now: Timestamp) async throws(TrackStoreError) -> RenewalOutcome
    /// How many devices are in each state.
    func deviceCensus() async throws(TrackStoreError) -> DeviceCensus
}

/// The devices of a store in numbers.
package struct DeviceCensus: Hashable, Sendable {
    package var active = 0
    package var pending = 0
    package var revoked = 0
    /// When the device was made that has been pending for longest.
    package var oldestPending: Timestamp?

    package init(active: Int = 0, pending: Int = 0, revoked: Int = 0, oldestPending: Timestamp? = nil) {
        self.active = active
        self.pending = pending
        self.revoked = revoked
        self.oldestPending = oldestPending
    }
}

extension EnrolmentStore {
    /// Whether somebody shows an enrolment token where an access key belongs.
    package func isToken(_ key: AccessKeyHash) async throws(TrackStoreError) -> Bool {
        try await token(matching: TokenHash(bytes: key.bytes)) != nil
    }
}

/// SHA-256 of an enrolment token: what the store keeps. Tokens have 160 random bits, so no salt or slow hash is needed.
package struct TokenHash: Hashable, Sendable {
    /// 32.
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Of a token as it stands in a line or a request.
    package init(of token: String) { bytes = Array(SHA256.hash(data: Array(token.utf8))) }
}

/// Who decides whether a claim with a token is good.
package enum TokenApproval: Hashable, Sendable {
    /// The token alone.
    case automatic
    /// A person, for each device.
    case asked
    /// A list of serial numbers. Each lets one device in; a second box with the same number needs a person.
    case listed([String])

    /// Most serial numbers of a list.
    package static let mostSerials = 100_000

    /// Why the list cannot be used; nil when it can.
    package var problem: String? {
        guard case .listed(let serials) = self else { return nil }
        guard !serials.isEmpty else { return "a list of serial numbers must have at least one" }
        guard serials.count <= Self.mostSerials else {
            return "a list has at most \(Self.mostSerials) serial numbers, this one has \(serials.count)"
        }
        for serial in serials {
            if let problem = SerialNumber.problem(with: serial) { return "\"\(serial.prefix(80))\": \(problem)" }
        }
        return nil
    }
}

/// The serial number of a box, as its maker printed it.
package enum SerialNumber {
    /// Bytes of UTF-8.
    package static let maximumBytes = 128

    /// Nil when it may be used; otherwise a sentence that names the rule.
    package static func problem(with serial: String) -> String? {
        guard (1...maximumBytes).contains(serial.utf8.count) else {
            return "a serial number has 1 to \(maximumBytes) bytes, this one has \(serial.utf8.count)"
        }
        let hasControl = serial.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
        return hasControl ? "a serial number must not hold control characters" : nil
    }
}

/// A token that is to be made.
package struct NewToken: Hashable, Sendable {
    package var hash: TokenHash
    package var service: ServiceID
    /// Devices that may be made with it, 1...``mostUses``.
    package var uses: Int
    /// From then on it makes no devices; nil for no end.
    package var end: Timestamp?
    package var pattern: NamePattern
    package var approval: TokenApproval
    /// For people; may be empty.
    package var note: String
    /// A vehicle may become an entity that has a past without a person's approval.
    package var takesPast: Bool

    package static let mostUses = 1_000_000

    package init(
        hash: TokenHash, service: ServiceID, uses: Int = 1, end: Timestamp? = nil, pattern: NamePattern = .wish,
        approval: TokenApproval = .automatic, note: String = "", takesPast: Bool = false
    ) {
        self.hash = hash
        self.service = service
        self.uses = uses
        self.end = end
        self.pattern = pattern
        self.approval = approval
        self.note = note
        self.takesPast = takesPast
    }
}

/// A token as the store knows it. It can claim identities of devices, and opens nothing else.
package struct TokenRecord: Hashable, Sendable {
    package enum Approval: Int64, Hashable, Sendable, CaseIterable {
        case automatic = 0
        case asked = 1
        case listed = 2
    }

    /// Counts up from 1 and never comes again: people name a token by it.
    package var number: Int64
    package var hash: TokenHash
    package var service: ServiceID
    package var uses: Int
    /// Devices that were made with it. Never goes down, also not when devices are forgotten.
    package var used: Int
    /// The last running number that a name got.
    package var lastName: Int64
    package var end: Timestamp?
    package var pattern: NamePattern
    package var approval: Approval
    package var note: String
    package var created: Timestamp
    package var revoked: Timestamp?
    /// See ``NewToken/takesPast``.
    package var takesPast: Bool

    package init(_ token: NewToken, number: Int64, created: Timestamp) {
        self.number = number
        hash = token.hash
        service = token.service
        uses = token.uses
        used = 0
        lastName = 0
        end = token.end
        pattern = token.pattern
        approval =
            switch token.approval {
            case .automatic: .automatic
            case .asked: .asked
            case .listed: .listed
            }
        note = token.note
        takesPast = token.takesPast
        self.created = created
    }

    package init(
        number: Int64, hash: TokenHash, service: ServiceID, uses: Int, used: Int, lastName: Int64, end: Timestamp?,
        pattern: NamePattern, approval: Approval, note: String, created: Timestamp, revoked: Timestamp?,
        takesPast: Bool = false
    ) {
        self.number = number
        self.hash = hash
        self.service = service
        self.uses = uses
        self.used = used
        self.lastName = lastName
        self.end = end
        self.pattern = pattern
        self.approval = approval
        self.note = note
        self.created = created
        self.revoked = revoked
        self.takesPast = takesPast
    }

    /// Whether it makes devices at this time: it was not revoked, has not ended, and is not used up.
    package func isUsable(at now: Timestamp) -> Bool {
        revoked == nil && (end.map { now < $0 } ?? true) && used < uses
    }
}

/// How a token names the entities of its devices: a text with `{entity}` (what the box wishes), `{serial}` (its serial
/// number) and `{number}` (counts up with each device of the token).
package struct NamePattern: Hashable, Sendable, CustomStringConvertible {
    package enum Part: String, Hashable, Sendable, CaseIterable {
        case entity
        case serial
        case number
    }

    private enum Piece: Hashable, Sendable {
        case text(String)
        case part(Part)
    }

    private let pieces: [Piece]
    /// As it was given.
    package let description: String

    /// The wish of the box.
    package static let wish = NamePattern(pieces: [.part(.entity)], description: "{entity}")

    private init(pieces: [Piece], description: String) {
        self.pieces = pieces
        self.description = description
    }

    /// Throws a sentence that names the rule that the text breaks.
    package init(_ text: String) throws(NamePatternError) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            if brace > rest.startIndex { pieces.append(.text(String(rest[..<brace]))) }
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}"),
                let part = Part(rawValue: String(rest[rest.index(after: brace)..<end]))
            else {
                throw NamePatternError(
                    "the name \"\(text.prefix(80))\" has a brace that is not of {entity}, {serial} or {number}")
            }
            pieces.append(.part(part))
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        self.init(pieces: pieces, description: text)
        // The shortest values show whether the text around them can be in a name.
        let sample = name(entity: "x", serial: "x", number: 1) ?? ""
        if let problem = EntityName.problem(withNew: sample) {
            throw NamePatternError("the name \"\(text.prefix(80))\" makes no entity: \(problem)")
        }
    }

    package func has(_ part: Part) -> Bool { pieces.contains(.part(part)) }

    /// Whether it can name more than one entity.
    package var isForMany: Bool { Part.allCases.contains(where: has) }

    /// Nil when the pattern needs a value that is not there. The name may break the rules of ``EntityName``.
    package func name(entity: String?, serial: String?, number: Int64) -> String? {
        var name = ""
        for piece in pieces {
            switch piece {
            case .text(let text): name += text
            case .part(.number): name += "\(number)"
            case .part(let part):
                guard let value = part == .entity ? entity : serial else { return nil }
                name += value
            }
        }
        return name
    }
}

/// Why a text is no ``NamePattern``.
package struct NamePatternError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
