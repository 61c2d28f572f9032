internal import SwiftProtobuf

/// Turns whole frames into bytes and back, so that other rooms need not know the encoding of messages.
package enum WireCodec {
    /// A complete frame: length and message. The receiver refuses a message over ``WireLimits/frameBytes``.
    package static func encode(_ frame: ClientFrame) -> [UInt8] {
        framed(frame)
    }

    /// A complete frame: length and message. The receiver refuses a message over ``WireLimits/frameBytes``.
    package static func encode(_ frame: ServerFrame) -> [UInt8] {
        framed(frame)
    }

    /// One message from ``FrameDecoder``. Throws `.malformed` for bytes that are no message, or an unknown kind.
    package static func decodeClient(_ bytes: [UInt8]) throws(WireError) -> ClientFrame {
        // Before the decoder puts the names into a table.
        if let longest = CallNames.longest(inFrame: bytes), longest > WireLimits.parameterNameBytes {
            throw WireError(
                .tooLarge,
                "a call's parameter has a name of \(longest) bytes, and \(WireLimits.parameterNameBytes) are the most")
        }
        let frame: ClientFrame = try message(bytes)
        guard frame.message != nil else { throw WireError(.malformed, "a client frame of an unknown kind") }
        return frame
    }

    /// One message from ``FrameDecoder``. Throws `.malformed` for bytes that are no message, or an unknown kind.
    package static func decodeServer(_ bytes: [UInt8]) throws(WireError) -> ServerFrame {
        let frame: ServerFrame = try message(bytes)
        guard frame.message != nil else { throw WireError(.malformed, "a server frame of an unknown kind") }
        return frame
    }

    private static func message<Frame: Message>(_ bytes: [UInt8]) throws(WireError) -> Frame {
        guard bytes.count <= WireLimits.frameBytes else {
            throw WireError(.tooLarge, "a message may have at most \(WireLimits.frameBytes) bytes")
        }
        do {
            // Unknown fields are dropped, so that a peer's extensions cost no memory here.
            return try Frame(serializedBytes: bytes, options: decodingOptions)
        } catch {
            throw WireError(.malformed, "\(Frame.protoMessageName): the bytes are not this message")
        }
    }

    private static let decodingOptions: BinaryDecodingOptions = {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        options.messageDepthLimit = 8
        return options
    }()

    private static func framed(_ message: some Message) -> [UInt8] {
        // These messages have no required fields and no extensions, so encoding cannot fail.
        let body: [UInt8] = (try? message.serializedBytes()) ?? []
        var frame: [UInt8] = []
        frame.reserveCapacity(body.count + 5)
        var length = UInt64(body.count)
        while length >= 0x80 {
            frame.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        frame.append(UInt8(truncatingIfNeeded: length))
        frame += body
        return frame
    }
}

/// Why bytes from a peer or a disk cannot be used.
package struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The bytes break the grammar: too short, too long, or contradictory.
        case malformed
        /// A length or count exceeds its limit. No memory was allocated for it.
        case tooLarge
        /// The program does not know this format version.
        case unsupportedVersion
    }

    package let code: Code
    /// For people: the value, the rule, and where the value was. Holds no position and no secret.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }
}

/// The limits of Saker Track Protocol 1, see docs/formats/track-protocol.md.
package enum WireLimits {
    /// The only protocol version.
    package static let protocolVersion: UInt32 = 1
    /// The name for TLS application-layer protocol negotiation (RFC 7301).
    package static let applicationProtocol = "saker/1"
    package static let defaultPort = 7443
    /// The highest batch payload format that this program reads. It also reads all lower ones.
    package static let payloadFormat = 4
    /// Longest message inside a frame, bytes.
    package static let frameBytes = 1 << 20
    /// The most points in one Upload or Points message.
    package static let batchPoints = 1000
    /// The most Uploads without acknowledgement.
    package static let windowBatches = 16
    /// The most payload bytes without acknowledgement.
    package static let windowBytes = 256 * 1024
    /// The most Calls of a client without an answer.
    package static let calls = 4
    /// The longest name of a Call's parameter, bytes.
    package static let parameterNameBytes = 256
    /// What names a start of a computer in a Hello, bytes.
    package static let bootBytes = 16
    /// The longest live hint in a Heartbeat, bytes.
    package static let liveHintBytes = 4096
    /// Of more versions of fences by which the points of one Upload were judged, the newest count.
    package static let fenceUses = 64
    /// The most alarms in an AlarmUpload.
    package static let uploadedAlarms = 64
    /// After so many seconds of silence the agent sends a Heartbeat.
    package static let heartbeatInterval = 60
    /// Seconds between two heartbeats with a health.
    package static let healthInterval = 60
    /// The most points in any batch payload, including payloads that the server makes by merging chunks.
    package static let payloadPoints = 65_536
    /// The most attribute values of a payload: points times distinct keys.
    package static let payloadValues = 262_144
    /// The longest batch payload before compression, bytes.
    package static let plainPayloadBytes = 4 << 20
}
