/// The numbers of Saker Track Protocol 1, see docs/formats/track-protocol.md.
package enum WireLimits {
    /// The only protocol version there is.
    package static let protocolVersion: UInt32 = 1
    /// The name offered in TLS application-layer protocol negotiation (RFC 7301).
    package static let applicationProtocol = "saker/1"
    package static let defaultPort = 7443
    /// The highest batch payload format that this program reads; it reads all below, too.
    package static let payloadFormat = 2
    /// Longest message inside a frame, bytes.
    package static let frameBytes = 1 << 20
    /// Most points of one Upload or Points message.
    package static let batchPoints = 1000
    /// Most Uploads that wait for their acknowledgement.
    package static let windowBatches = 16
    /// Most payload bytes that wait for their acknowledgement.
    package static let windowBytes = 256 * 1024
    /// Most Calls of a client that wait for their answer.
    package static let calls = 4
    /// Longest newest point of a Heartbeat, bytes.
    package static let newestPointBytes = 4096
    /// Seconds of silence after which the agent sends a Heartbeat.
    package static let heartbeatInterval = 60
    /// Most points any batch payload may hold, also one made by merging stored chunks.
    package static let payloadPoints = 65_536
    /// Most attribute values of a payload: points times distinct keys.
    package static let payloadValues = 262_144
    /// Longest batch payload before compression, bytes.
    package static let plainPayloadBytes = 4 << 20
}
