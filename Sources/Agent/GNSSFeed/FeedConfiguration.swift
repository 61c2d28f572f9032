/// Where gpsd is, and which receiver the feed wants.
package struct FeedConfiguration: Hashable, Sendable {
    /// A name or an address.
    package let host: String
    package let port: UInt16
    /// gpsd's path for the receiver. Nil: the reports of every receiver.
    package let device: String?
    package let timing: FeedTiming

    /// Throws ``GNSSFeedError`` with code `configuration` for an impossible host or device.
    package init(
        host: String = "localhost", port: UInt16 = 2947, device: String? = nil, timing: FeedTiming = FeedTiming()
    ) throws(GNSSFeedError) {
        guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw GNSSFeedError(.configuration, "gpsd host \"\(host)\": a name or address without spaces is needed")
        }
        guard port != 0 else {
            throw GNSSFeedError(.configuration, "gpsd port 0: a port from 1 to 65535 is needed (gpsd's own is 2947)")
        }
        if let device {
            // libgps's GPS_PATH_MAX with its NUL: libgps would cut a longer path.
            guard !device.isEmpty, device.utf8.count < 128, device.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw GNSSFeedError(
                    .configuration, "gpsd device \"\(device)\": a path of 1 to 127 printable bytes is needed")
            }
        }
        self.host = host
        self.port = port
        self.device = device
        self.timing = timing
    }

    /// The command that makes gpsd open the receiver and send reports. gpsd answers with DEVICES and WATCH.
    var watchCommand: String {
        guard let device else { return "?WATCH={\"enable\":true,\"json\":true};\n" }
        var quoted = ""
        for character in device.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return "?WATCH={\"enable\":true,\"json\":true,\"device\":\"\(quoted)\"};\n"
    }
}

/// All waits of the feed, in milliseconds.
package struct FeedTiming: Hashable, Sendable {
    /// The time for one connection attempt, for all addresses of the host together.
    package var connect: Int64 = 10_000
    /// From the connection to gpsd's greeting.
    package var greeting: Int64 = 10_000
    /// So long after a TPV without another one, the feed sends ``FeedEvent/silence``.
    package var silence: Int64 = 2_500
    /// So long without a TPV while there is a fix, the state returns to ``FeedState/noFix``.
    package var stale: Int64 = 10_000
    /// So long without a word of a receiver, the feed asks gpsd which receivers it has.
    package var ask: Int64 = 5_000
    /// So long without a word of a receiver that gpsd has open, the receiver counts as away; longer for one that speaks seldom.
    package var mute: Int64 = 30_000
    /// So long without a byte from gpsd, the feed asks gpsd for a sign of life.
    package var quiet: Int64 = 30_000
    /// How long gpsd may take to answer that question.
    package var answer: Int64 = 10_000
    /// The first wait before connecting again; each later wait doubles.
    package var firstBackoff: Int64 = 1_000
    package var longestBackoff: Int64 = 30_000
    /// How long the number of satellites in a SKY counts for the reports that follow it.
    package var skyAge: Int64 = 5_000

    package init() {}
}
