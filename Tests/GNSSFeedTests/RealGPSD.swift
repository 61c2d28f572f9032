import Foundation
import ProgramTestKit

/// A real gpsd, started for a test and ended with it.
final class RealGPSD {
    let port: UInt16
    private let directory: URL
    private var process: Process?

    /// `sources` as on gpsd's command line. Port 0 is any free one: gpsd cannot be told to choose.
    init(port wanted: UInt16 = 0, sources: [String] = []) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "gnss-feed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        port = wanted != 0 ? wanted : try UInt16(freePort())
        try launch(sources: sources)
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Starts it (again) on the same port; returns when it accepts connections.
    func launch(sources: [String] = []) throws {
        let process = Process()
        process.executableURL = URL(filePath: gpsdPath)
        process.arguments = ["-N", "-n", "-S", "\(port)", "-F", controlPath] + sources
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        let limit = Date(timeIntervalSinceNow: 120)
        while (try? LoopbackConnection(to: port)) == nil {
            guard process.isRunning, Date() < limit else { throw SocketFailure("gpsd did not start on port \(port)") }
            usleep(10_000)
        }
    }

    /// Ends it at once, as a crash does.
    func kill() {
        guard let process else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    /// Stops it from running without ending it, as a hang does; and lets it run again.
    func freeze(_ isFrozen: Bool) {
        guard let process else { return }
        Glibc.kill(process.processIdentifier, isFrozen ? SIGSTOP : SIGCONT)
    }

    /// What gpsdctl tells when a receiver is plugged in ("+path") or out ("-path"); true when gpsd agreed.
    func control(_ command: String) throws -> Bool {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let connection = LoopbackConnection(descriptor: descriptor)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: controlPath.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SocketFailure("gpsd's control socket") }
        connection.send(command + "\r\n")
        return connection.receive(until: "OK")
    }

    private var controlPath: String { directory.appending(path: "control").path }
}

/// A receiver for gpsd: a `tcp://` source that sends what a test gives it.
final class SimulatedReceiver: Sendable {
    private let listener: LoopbackListener

    init() throws { listener = try LoopbackListener() }

    var source: String { "tcp://127.0.0.1:\(listener.port)" }

    /// gpsd's connection, once it has opened the source.
    func opened() async throws -> LoopbackConnection? {
        try await onThread { [self] in listener.accept() }
    }
}

extension LoopbackConnection {
    /// Says what a recorded receiver said. Paced, because gpsd passes over what comes faster than it reads; blocks the
    /// calling thread.
    func play(_ recording: [UInt8]) {
        var rest = recording[...]
        while !rest.isEmpty {
            send(rest.prefix(1024))
            rest = rest.dropFirst(1024)
            usleep(15_000)
        }
    }
}

/// Positions once a second as NMEA: enough for gpsd to make fixes of.
enum NMEA {
    static func sentence(_ body: String) -> String {
        let checksum = body.utf8.reduce(UInt8(0), ^)
        return "$\(body)*" + (checksum < 16 ? "0" : "") + String(checksum, radix: 16, uppercase: true) + "\r\n"
    }

    /// The epoch `second` of a day, moving north. `date`: DDMMYY as the receiver has it; nil: it sends GGA and GSA alone.
    static func epoch(_ second: Int, date: String? = "150326") -> String {
        let time = String(format: "%02d%02d%02d.000", second / 3600, second / 60 % 60, second % 60)
        let (degrees, minutes) = (52 + (1000 + second) / 12_000, Double((1000 + second) % 12_000) * 0.005)
        let latitude = String(format: "%02d%07.4f", degrees, minutes)
        let place =
            sentence("GPGGA,\(time),\(latitude),N,00417.0000,E,1,08,0.9,5.0,M,45.0,M,,")
            + sentence("GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,1.8,0.9,1.5")
        guard let date else { return place }
        return place + sentence("GPRMC,\(time),A,\(latitude),N,00417.0000,E,18.0,0.0,\(date),,,A")
    }
}
