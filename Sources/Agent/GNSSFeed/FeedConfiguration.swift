/// Where gpsd is and what is wanted of it.
package struct FeedConfiguration: Hashable, Sendable {
    /// A name or an address.
    package let host: String
    package let port: UInt16
    /// The path by which gpsd knows the receiver; nil takes the reports of every receiver gpsd has.
    package let device: String?
    package let timing: FeedTiming

    /// Throws ``GNSSFeedError`` with code `configuration` for what cannot name a host or a device.
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
            // The limit is libgps's GPS_PATH_MAX with its NUL: a longer path would come back cut.
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

    /// The command that makes gpsd open the receiver and stream its reports; gpsd answers with DEVICES and WATCH.
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

/// Every wait of the feed, in milliseconds.
package struct FeedTiming: Hashable, Sendable {
    /// One connection attempt, all addresses of the host together.
    package var connect: UInt64 = 10_000
    /// From the connection to gpsd's greeting.
    package var greeting: UInt64 = 10_000
    /// Without a TPV after one: ``FeedEvent/silence``.
    package var silence: UInt64 = 2_500
    /// Without a TPV while there is a fix: back to ``FeedState/noFix``.
    package var stale: UInt64 = 10_000
    /// Without a byte from gpsd: ask it for a sign of life.
    package var quiet: UInt64 = 30_000
    /// From the question to the sign of life.
    package var answer: UInt64 = 10_000
    /// The first wait before connecting again; doubles each time.
    package var firstBackoff: UInt64 = 1_000
    package var longestBackoff: UInt64 = 30_000
    /// How long a SKY's number of satellites stands for the reports that follow.
    package var skyAge: UInt64 = 5_000

    package init() {}
}
