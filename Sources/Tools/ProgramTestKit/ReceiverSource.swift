import Foundation
import Synchronization

/// A receiver for a real gpsd, as a `tcp://` source. It plays a recording many times faster than real time. Sampling
/// follows GNSS time, so one minute of test is one hour of drive.
package final class ReceiverSource: Sendable {
    private let listener: ListeningSocket
    private let state = Mutex(State())

    private struct State {
        var isEnded = false
        var isPaused = true
        var sent = 0
    }

    /// `epochs`: one string of sentences for each epoch. `pause`: seconds between two epochs.
    package convenience init(epochs: [String], pause: Double) throws {
        try self.init(pieces: epochs.map { Array($0.utf8) }, pause: pause)
    }

    /// `network`: the network of gpsd. The source serves until ``end()``.
    package init(pieces: [[UInt8]], pause: Double, in network: NetworkNamespace? = nil) throws {
        listener = try inside(network) { try ListeningSocket() }
        Thread.detachNewThread { [self] in serve(pieces, pause) }
    }

    package var address: String { "tcp://127.0.0.1:\(listener.port)" }
    /// Pieces sent so far.
    package var sent: Int { state.withLock { $0.sent } }
    package func resume() { state.withLock { $0.isPaused = false } }
    package func pause() { state.withLock { $0.isPaused = true } }

    package func end() {
        state.withLock { $0.isEnded = true }
        listener.end()
    }

    /// There is one receiver: a new connection continues where the last one stopped, like a cable that is plugged in
    /// again.
    private func serve(_ pieces: [[UInt8]], _ pause: Double) {
        defer { listener.close() }
        var next = 0
        while !state.withLock({ $0.isEnded }) {
            guard let client = listener.accept() else { return }
            while next < pieces.count {
                let (isEnded, isPaused) = state.withLock { ($0.isEnded, $0.isPaused) }
                if isEnded { break }
                ProgramTestKit.pause(milliseconds: max(Int(pause * 1000), 1))
                if isPaused {
                    if Self.isGone(client) { break }
                    continue
                }
                let bytes = pieces[next]
                guard send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { break }
                next += 1
                state.withLock { $0.sent = next }
            }
            // gpsd would open a source that closes at once again and again, so the source stays open until the end.
            while next >= pieces.count, !state.withLock({ $0.isEnded }), !Self.isGone(client) {
                ProgramTestKit.pause(milliseconds: 20)
            }
            close(client)
        }
    }

    private static func isGone(_ client: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(client, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }
}

extension ReceiverSource {
    /// A drive to the north-east at 15 m/s, from a whole minute of this year on, one epoch a second.
    package static func drive(seconds: Int, from start: Int) -> [String] {
        (0..<seconds).map { second in
            let latitude = 52.0 + Double(second) * 0.0001
            let longitude = 4.3 + Double(second) * 0.00015
            return epoch(time: start + second, latitude: latitude, longitude: longitude)
        }
    }

    /// One epoch of a receiver that sees eight satellites: GGA, GSA and RMC. `time`: seconds since 1970.
    package static func epoch(time: Int, latitude: Double, longitude: Double) -> String {
        var moment = time_t(time)
        var parts = tm()
        gmtime_r(&moment, &parts)
        let clock = String(format: "%02d%02d%02d.00", parts.tm_hour, parts.tm_min, parts.tm_sec)
        let date = String(format: "%02d%02d%02d", parts.tm_mday, parts.tm_mon + 1, parts.tm_year % 100)
        let north = String(format: "%02d%08.5f", Int(latitude), (latitude - Double(Int(latitude))) * 60)
        let east = String(format: "%03d%08.5f", Int(longitude), (longitude - Double(Int(longitude))) * 60)
        return sentence("GPGGA,\(clock),\(north),N,\(east),E,1,08,1.0,12.0,M,47.0,M,,")
            + sentence("GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,1.8,1.0,1.5")
            + sentence("GPRMC,\(clock),A,\(north),N,\(east),E,029.2,042.7,\(date),,,A")
    }

    private static func sentence(_ body: String) -> String {
        let sum = body.utf8.reduce(0, ^)
        return "$\(body)*" + String(format: "%02X", sum) + "\r\n"
    }
}
