package import Ingest
package import ServerIdentity
import TrackWire

/// The settings of the gateway, with their defaults. docs/formats/track-protocol.md says what agents see of them.
package struct GatewayConfiguration: Sendable {
    /// The application protocols that an identity must offer.
    package static let applicationProtocols = [WireLimits.applicationProtocol]

    /// Address to listen on.
    package var host: String
    /// TCP port; 0 lets the kernel choose, see ``GatewayServer/localPort``.
    package var port: Int
    /// Must offer ``applicationProtocols``.
    package var identity: ServerIdentity
    package var limits = GatewayLimits()
    package var deadlines = GatewayDeadlines()

    package init(host: String, port: Int = WireLimits.defaultPort, identity: ServerIdentity) {
        self.host = host
        self.port = port
        self.identity = identity
    }
}

/// Bounds on what connections may take.
package struct GatewayLimits: Hashable, Sendable {
    /// Connections at one time; more are closed before their handshake.
    package var connections = 50_000
    /// Connections beyond them that may log in while all have sessions.
    package static func lobby(beside connections: Int) -> Int { max(1, connections / 16) }
    /// Connections from one address at one time. Fleets share the addresses of their mobile operator.
    package var connectionsPerAddress = 10_000
    /// Sessions of one vehicle at one time; the oldest ends for one more. A vehicle needs one, and another one when it comes back
    /// before its last connection is found dead.
    package var sessionsOfVehicle = 4
    /// Logins of one vehicle at once, and milliseconds until there is room for one more. Each writes into the store.
    package var logins = 60
    package var loginInterval: Int64 = 5000
    /// Most points of one Upload or Points message.
    package var batchPoints = WireLimits.batchPoints
    /// Most Uploads and Points of a connection that wait for the store.
    package var windowBatches = WireLimits.windowBatches
    /// Most payload bytes of a connection that wait for the store; also of one message.
    package var windowBytes = WireLimits.windowBytes
    /// Longest message, bytes.
    package var frameBytes = WireLimits.frameBytes
    /// Longest message before the login, bytes.
    package var loginFrameBytes = 4096
    /// Calls of one connection that may wait for their answer; with so many, the connection is not read. An agent sends
    /// half as many ahead, so that its uploads never wait for its calls.
    package var calls = 2 * WireLimits.calls
    /// Calls of all connections that are at work; more are answered at once with a refusal.
    package var callsOfAll = 256
    /// Calls of one vehicle that are at work.
    package var callsOfVehicle = 16
    /// Longest path and parameters of a call together, bytes.
    package var callBytes = 256 * 1024
    var pushes = PushMachine.Limits()
    /// Whose custom points a session may bring.
    package var devicePolicy = DevicePolicy.entity
    /// How far ahead of the server's clock a point or a live hint may be, milliseconds: as for the Web API.
    package var pointLead: Int64 = 600_000
    /// How old a custom point may be, milliseconds; nil for any age.
    package var customPointAge: Int64?

    package init() {}
}

/// How long the gateway waits for each step.
package struct GatewayDeadlines: Hashable, Sendable {
    /// From the accepted connection to the end of the TLS handshake.
    package var handshake = Duration.seconds(10)
    /// From the handshake to the Hello, and again from the Hello to the answer.
    package var login = Duration.seconds(10)
    /// Seconds without a frame after which the agent sends a Heartbeat.
    package var heartbeatInterval = WireLimits.heartbeatInterval
    /// From a call to its answer.
    package var call = Duration.seconds(20)
    /// From one whole frame to the next.
    package var idle = Duration.seconds(3 * Int64(WireLimits.heartbeatInterval))
    /// From the gateway's Closing to the end of the connection.
    package var close = Duration.seconds(5)
    /// What an agent is told to wait when the store refuses points, seconds.
    package var busyRetryAfter: UInt32 = 30
    /// How long ``GatewayServer/stop()`` waits until the received batches are stored, whatever the store does.
    package var drain = Duration.seconds(10)

    package init() {}
}
