import Foundation
import Synchronization

/// A second client of the same gpsd, directly on its socket.
package final class GPSDWitness: Sendable {
    /// One report with a time and a position.
    package struct Report: Hashable, Sendable {
        /// Milliseconds.
        package let time: Int
        package let mode: Int
        package let latitude: Double
        package let longitude: Double
        /// How many of speed, course, altitude and accuracy the report has.
        package let details: Int

        package init(time: Int, mode: Int, latitude: Double, longitude: Double, details: Int) {
            self.time = time
            self.mode = mode
            self.latitude = latitude
            self.longitude = longitude
            self.details = details
        }
    }

    private let text = Mutex(Data())
    private let descriptor: Int32

    package init(port: Int, in network: NetworkNamespace? = nil) throws {
        descriptor = try inside(network) { try LoopbackSocket.connect(port: port) }
        let client = descriptor
        let watch = Array("?WATCH={\"enable\":true,\"json\":true};\n".utf8)
        send(client, watch, watch.count, Int32(MSG_NOSIGNAL))
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(client, &buffer, buffer.count)
                guard count > 0 else { break }
                text.withLock { $0 += buffer[..<count] }
            }
            close(client)
        }
    }

    private func messages() -> [[String: Any]] {
        text.withLock { $0 }.split(separator: 0x0A).compactMap {
            try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
        }
    }

    /// What gpsd took the receivers for so far, such as `SiRF`.
    package func drivers() -> Set<String> {
        Set(messages().filter { $0["class"] as? String == "DEVICE" }.compactMap { $0["driver"] as? String })
    }

    /// gpsd has told that its receiver is gone.
    package var hasLostReceiver: Bool {
        messages().contains { $0["class"] as? String == "DEVICE" && $0["activated"] as? Int == 0 }
    }

    /// Every report with a time and a position so far, in order.
    package func reports() -> [Report] {
        let times = ISO8601DateFormatter()
        times.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return messages().compactMap { object in
            guard object["class"] as? String == "TPV", let mode = object["mode"] as? Int, mode >= 2,
                let stamp = object["time"] as? String, let date = times.date(from: stamp),
                let latitude = object["lat"] as? Double, let longitude = object["lon"] as? Double
            else { return nil }
            let details = ["speed", "track", "altMSL", "eph"].count { object[$0] != nil }
            return Report(
                time: Int((date.timeIntervalSince1970 * 1000).rounded()), mode: mode, latitude: latitude,
                longitude: longitude, details: details)
        }
    }
}
