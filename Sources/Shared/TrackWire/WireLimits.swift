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
