package import SecureLink
package import TrackModel

/// What a fleet does, and to which server.
package struct FleetPlan: Sendable {
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// Every vehicle sends a batch each pack interval, the vehicles spread evenly over it.
        case live
        /// Every vehicle sends all its points as fast as the server's window allows.
        case backlog
        /// Every vehicle stays logged in and sends heartbeats only.
        case idle
    }

    /// How the fleet judges the server's certificate.
    package var host: String
    package var port: Int
    /// The name in the server's certificate; nil when it equals the host.
    package var serverName: String?
    package var trust: TLSClientOptions.Trust
    package var service: Int64
    package var accessKey: String
    package var mode: Mode
    /// Connections, 1 ... 1,000,000. Each has its own stream and entity.
    package var vehicles = 100
    /// An entity's name is this prefix, a dash and the vehicle's number.
    package var entityPrefix = "sim"
    /// Seconds between two points, by the points' own times, 1 ... 300.
    package var gather = 5
    /// Seconds between two batches of a vehicle in live mode. Points still have ``gather`` seconds between them, so
    /// with a shorter interval the fleet drives faster than the clock.
    package var pack = 30.0
    /// Points of one batch, 1 ... 1,000.
    package var batch = 6
    /// Points of each vehicle in backlog mode.
    package var points = 100_000
    /// Seconds. Live and idle last so long; backlog may take at most so long.
    package var duration = 60.0
    /// The same seed makes the same drives.
    package var seed: UInt64 = 1
    /// The time of the first point. Nil: so early that the last point is not ahead of the clock.
    package var start: Timestamp?
    /// The most new connections a second.
    package var rate = 500.0
    /// The most connections that open at the same time.
    package var opening = 100
    /// Addresses of this machine to connect from; empty for any address. One address has about 28,000 ports.
    package var sources: [String] = []
    /// Event loops, 1 ... 64.
    package var threads = 1

    package init(
        host: String, port: Int, trust: TLSClientOptions.Trust, service: Int64, accessKey: String, mode: Mode
    ) {
        self.host = host
        self.port = port
        self.trust = trust
        self.service = service
        self.accessKey = accessKey
        self.mode = mode
    }

    /// Batches each vehicle sends.
    package var batchesPerVehicle: Int {
        switch mode {
        case .idle: 0
        case .backlog: (points + batch - 1) / batch
        case .live: max(1, Int((duration / pack).rounded()))
        }
    }

    /// Points each vehicle sends.
    package var pointsPerVehicle: Int {
        switch mode {
        case .idle: 0
        case .backlog: points
        case .live: batchesPerVehicle * batch
        }
    }

    /// Throws `.plan` for the first value outside its range.
    package func check() throws(FleetError) {
        func require(_ isMet: Bool, _ rule: @autoclosure () -> String) throws(FleetError) {
            guard isMet else { throw FleetError(.plan, rule()) }
        }
        try require((1...65_535).contains(port), "port \(port): must be within 1...65535")
        try require((1...1_000_000).contains(vehicles), "\(vehicles) vehicles: must be within 1...1000000")
        try require((1...300).contains(gather), "gather \(gather): must be within 1...300 s")
        try require(pack.isFinite && (0.01...86_400).contains(pack), "pack \(pack): must be within 0.01...86400 s")
        try require((1...1000).contains(batch), "batch \(batch): must be within 1...1000 points")
        try require((1...50_000_000).contains(points), "points \(points): must be within 1...50000000")
        try require(
            duration.isFinite && (0.1...604_800).contains(duration),
            "duration \(duration): must be within 0.1...604800 s, a week")
        try require(rate.isFinite && (0.1...100_000).contains(rate), "rate \(rate): must be within 0.1...100000")
        try require((1...100_000).contains(opening), "opening \(opening): must be within 1...100000")
        try require((1...64).contains(threads), "threads \(threads): must be within 1...64")
        try require(
            pointsPerVehicle <= 50_000_000, "\(pointsPerVehicle) points a vehicle: at most 50000000 are made")
        if let problem = EntityName.problem(with: entity(of: vehicles - 1)) { throw FleetError(.plan, problem) }
    }

    func entity(of vehicle: Int) -> String { "\(entityPrefix)-\(vehicle)" }
}

/// Why a fleet could not carry out its plan. The first failure ends the run, because a load that lost something
/// measures nothing.
package struct FleetError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The plan itself, or a file it names.
        case plan
        /// The server cannot be reached, is not trusted, or closed a connection.
        case connection
        /// The server refused a login or a point.
        case refused
        /// The server sent something that the protocol does not allow here.
        case answer
        /// Something exceeded its time limit.
        case timeout
    }

    package let code: Code
    /// For people: names the value and the rule, never a key.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }
}
