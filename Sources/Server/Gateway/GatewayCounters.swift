import Synchronization
import TrackWire

/// Counts of the gateway since it started.
package struct GatewayCounts: Hashable, Sendable {
    /// Connections accepted, and those closed at once because there were too many.
    package var accepted: UInt64 = 0
    package var turnedAway: UInt64 = 0
    /// Connections whose TLS handshake failed or took too long.
    package var failedHandshakes: UInt64 = 0
    package var logins: UInt64 = 0
    /// Sessions that ended because their vehicle had too many.
    package var surplusSessions: UInt64 = 0
    package var refusedLogins: UInt64 = 0
    /// The same by reason.
    package var refusals: [LoginRefusalReason: UInt64] = [:]
    /// Connections closed because a frame broke a rule of the protocol.
    package var violations: UInt64 = 0
    package var refusedPoints: UInt64 = 0
    /// Those of them that were dated too far ahead of the server's clock.
    package var refusedAhead: UInt64 = 0
    /// Points whose sequences another agent had used for other points of the same entity; stored all the same.
    package var rescuedPoints: UInt64 = 0
    /// Batches stored without some of their attributes, which are no track columns or have another type.
    package var batchesWithIgnoredAttributes: UInt64 = 0
    /// Live hints that broke a rule of the model and were left alone.
    package var refusedHints: UInt64 = 0
    /// Every attempt counts.
    package var sentPushes: UInt64 = 0
    package var acknowledgedPushes: UInt64 = 0
    /// Not acknowledged for ten minutes by the session that counts it.
    package var givenUpPushes: UInt64 = 0
    /// What became of so many pushes was never stored: they are sent again after the next login.
    package var forgottenPushOutcomes: UInt64 = 0

    package init() {}
}

/// Why a login was refused; the raw values are names for monitoring.
package enum LoginRefusalReason: String, Hashable, Sendable, CaseIterable {
    case authentication, service, parameter, `protocol`, busy, `internal`, revoked, cloned, unable

    init(_ code: RefusedCode) {
        self =
            switch code {
            case .authentication: .authentication
            case .service: .service
            case .parameter: .parameter
            case .protocol: .protocol
            case .busy: .busy
            case .revoked: .revoked
            case .cloned: .cloned
            case .unable: .unable
            case .internal, .unspecified, .UNRECOGNIZED: .internal
            }
    }
}

final class GatewayCounters: Sendable {
    private let state = Mutex(GatewayCounts())

    var counts: GatewayCounts { state.withLock { $0 } }

    func add(_ count: UInt64 = 1, to counter: WritableKeyPath<GatewayCounts, UInt64>) {
        state.withLock { $0[keyPath: counter] &+= count }
    }

    func refused(_ code: RefusedCode) {
        state.withLock { state in
            state.refusedLogins &+= 1
            state.refusals[LoginRefusalReason(code), default: 0] &+= 1
        }
    }
}
