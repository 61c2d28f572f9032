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
