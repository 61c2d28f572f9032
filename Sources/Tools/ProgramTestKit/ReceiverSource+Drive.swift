import Foundation

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
