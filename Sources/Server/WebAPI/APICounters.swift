import Synchronization

/// Counts the answers of the Web API for monitoring, by call and status and never by client.
package final class APICounters: Sendable {
    /// The way by which a request came.
    package enum Way: String, Hashable, Sendable {
        case http
        /// Through an agent's connection.
        case device
    }

    package struct Answer: Hashable, Sendable {
        package let way: Way
        /// As in `track/gettrack`; `unknown` for every call that there is not.
        package let call: String
        /// The API's status, not HTTP's.
        package let status: Int
    }

    private let state = Mutex<[Answer: UInt64]>([:])
    private let holes = Atomic<UInt64>(0)

    package init() {}

    package var answers: [Answer: UInt64] { state.withLock { $0 } }

    /// Readings of tracks that met points which the store cannot read.
    package var readingsWithHoles: UInt64 { holes.load(ordering: .relaxed) }

    func metHoles() { holes.wrappingAdd(1, ordering: .relaxed) }

    /// `call` is the text that the client wrote. Only names of the API are counted under their own name, so that the
    /// number of names stays small.
    func answered(_ way: Way, _ call: String?, _ status: APIStatus) {
        let known = call.flatMap { Endpoint.named[$0] == nil ? nil : $0 } ?? "unknown"
        state.withLock { $0[Answer(way: way, call: known, status: status.rawValue), default: 0] &+= 1 }
    }
}
