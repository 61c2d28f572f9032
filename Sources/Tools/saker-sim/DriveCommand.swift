internal import ArgumentParser
internal import DriveSimulation
internal import Foundation
internal import TrackModel

/// `saker-sim drive`: simulates a vehicle's receiver in real time for a real gpsd.
struct DriveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drive", abstract: "Simulate a drive and send it as NMEA to a real gpsd.",
        discussion: """
            With --listen, gpsd connects here (gpsd tcp://127.0.0.1:PORT); the drive begins with the first \
            connection. With --udp, gpsd listens (gpsd udp://127.0.0.1:PORT) and the drive begins at once. The first \
            line of output is "listening ADDRESS:PORT" or "sending ADDRESS:PORT". The drive ends after --duration, \
            or at the end of a route that is not a loop.
            """)

    @Option(help: "A GPX or GeoJSON file with the route; without it, a built-in loop with a tunnel.")
    var route: String?

    @Flag(help: "Drive from the end of the route file straight to its start and on, for ever.")
    var loop = false

    @Option(help: "A part of the route without a view of the sky: metres from its start, as 500-900. May be repeated.")
    var tunnel: [MetreRange] = []

    @Flag(help: "No tunnel in the built-in loop.")
    var openSky = false

    @Option(parsing: .unconditional, help: "Epochs a second: 1, 2, 5 or 10.")
    var rate = 1

    @Option(parsing: .unconditional, help: "Speed on a straight road, km/h, 5...250.")
    var speedLimit = 50.0

    @Option(parsing: .unconditional, help: "The same seed gives the same drive.")
    var seed: UInt64 = 1

    @Option(parsing: .unconditional, help: "Seconds of the drive.")
    var duration: Double?

    @Option(
        help:
            "GNSS time of the first epoch, as 2026-03-15T08:00:00Z. Default: the system clock's next second."
    )
    var startTime: StartTime?

    @Option(help: "Address and port to listen on; port 0 takes a free one.")
    var listen: GPSDEndpoint?

    @Option(help: "Address and port to send datagrams to, instead of listening.")
    var udp: GPSDEndpoint?

    @Option(help: "A file for the true positions, as CSV.")
    var truth: String?

    func validate() throws {
        guard SimulatedDrive.rates.contains(rate) else {
            throw ValidationError("--rate \(rate): must be 1, 2, 5 or 10 epochs a second")
        }
        guard (5...250).contains(speedLimit) else {
            throw ValidationError("--speed-limit \(speedLimit): must be within 5...250 km/h")
        }
        guard duration.map({ $0.isFinite && $0 > 0 && $0 <= 31_536_000 }) ?? true else {
            throw ValidationError("--duration \(duration ?? 0): must be above 0 and at most 31536000 seconds, a year")
        }
        guard listen == nil || udp == nil else {
            throw ValidationError("--listen and --udp exclude each other: give one of them")
        }
        guard udp?.port != 0 else {
            throw ValidationError("--udp needs the port gpsd listens on, not 0")
        }
    }

    func run() throws {
        let path: Route
        var tunnels = tunnel.map(\.range)
        if let route {
            path = try RouteFile.read(route, isClosed: loop)
        } else {
            path = try Route.cityLoop()
            if tunnels.isEmpty, !openSky { tunnels = [Route.cityLoopTunnel] }
        }
        let settings = DriveSettings(seed: seed, speedLimit: speedLimit / 3.6, tunnels: tunnels)
        let truthFile = try truth.map { try TruthFile(path: $0) }
        let output: any EpochOutput =
            if let udp { try DatagramOutput(to: udp) } else {
                try StreamOutput(listeningOn: listen ?? GPSDEndpoint(host: "127.0.0.1", port: 0))
            }
        // The caller reads the port from this line, perhaps through a pipe.
        print(output.announcement)
        fflush(nil)

        output.waitForReader()
        // Receivers make fixes on whole seconds. Without a given time the drive begins at the clock's next second.
        var (start, pause) = (startTime?.timestamp, Duration.zero)
        if start == nil { (start, pause) = Self.nextSecond() }
        guard let start, var drive = SimulatedDrive(route: path, settings: settings, start: start, rate: rate) else {
            throw ValidationError("--rate \(rate): must be 1, 2, 5 or 10 epochs a second")
        }
        let epochs = duration.map { Int(($0 * Double(rate)).rounded(.up)) } ?? .max
        let beginning = ContinuousClock.now + pause
        for index in 0..<epochs {
            output.serve(until: beginning + .milliseconds(index * 1000 / rate))
            let epoch = drive.next()
            try truthFile?.append(epoch)
            output.send(epoch.sentences)
            if drive.isAtEnd { break }
        }
        // gpsd takes the last epoch as complete only after its time is over.
        output.serve(until: ContinuousClock.now + .milliseconds(1000 / rate))
    }

    private static func nextSecond() -> (Timestamp, Duration) {
        let now = Date.now.timeIntervalSince1970
        let next = now.rounded(.up)
        return (Timestamp(seconds: Int64(next)), .seconds(next - now))
    }
}

/// `500-900`
struct MetreRange: ExpressibleByArgument {
    let range: ClosedRange<Double>

    init?(argument: String) {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let from = parts[0], let to = parts[1], from.isFinite, to.isFinite, from >= 0, from < to
        else { return nil }
        range = from...to
    }
}

/// An address or `localhost`, and a port: `127.0.0.1:2948`.
struct GPSDEndpoint: ExpressibleByArgument {
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...])
        else { return nil }
        let host = argument[..<colon]
        guard !host.isEmpty else { return nil }
        self.host = host == "localhost" ? "127.0.0.1" : String(host)
        self.port = port
    }
}

struct StartTime: ExpressibleByArgument {
    let timestamp: Timestamp

    init?(argument: String) {
        // gpsd reads two digits of the year and assumes its own time's century. So only times near its clock work.
        guard let date = try? Date(argument, strategy: .iso8601),
            (315_964_800..<4_102_444_800).contains(date.timeIntervalSince1970)
        else { return nil }
        timestamp = Timestamp(seconds: Int64(date.timeIntervalSince1970))
    }
}

/// Writes the true positions as CSV. Each line is in the file before its epoch is sent.
struct TruthFile {
    private let path: String
    private let handle: FileHandle

    init(path: String) throws {
        self.path = path
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else {
            throw SimulationError(.truthFile, "\(path): cannot be created: \(String(cString: strerror(errno)))")
        }
        self.handle = handle
        try write(SimulatedDrive.Epoch.truthHeader)
    }

    func append(_ epoch: SimulatedDrive.Epoch) throws {
        try write(epoch.truthRow)
    }

    private func write(_ line: String) throws {
        do {
            try handle.write(contentsOf: Data((line + "\n").utf8))
        } catch {
            throw SimulationError(.truthFile, "\(path): cannot be written: \(error.localizedDescription)")
        }
    }
}
