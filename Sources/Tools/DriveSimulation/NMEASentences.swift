internal import Geodesy
internal import Glibc
package import TrackModel

/// Writes an observation as NMEA 0183 sentences, in the order and form of a common receiver.
package enum NMEASentences {
    /// One epoch: RMC, VTG, GGA, GSA, GSV and, last, GLL; each ends with CR LF.
    package static func epoch(_ observation: Observation, at time: Timestamp) -> String {
        let moment = Moment(time)
        return rmc(observation, moment) + vtg(observation) + gga(observation, moment) + gsa(observation)
            + gsv(observation) + gll(observation, moment)
    }

    /// A sentence around a body: `$`, the body, the exclusive or of its bytes, CR LF.
    package static func sentence(_ body: String) -> String {
        let checksum = body.utf8.reduce(UInt8(0), ^)
        let digits = String(checksum, radix: 16, uppercase: true)
        return "$\(body)*\(checksum < 16 ? "0" : "")\(digits)\r\n"
    }

    private static func gga(_ observation: Observation, _ moment: Moment) -> String {
        guard let solution = observation.solution else {
            return sentence("GPGGA,\(moment.time),,,,,0,00,99.99,,,,,,")
        }
        let used = FixedPoint.padded(observation.satellites.count { $0.isUsed }, to: 2)
        let dilution = FixedPoint.text(solution.horizontalDilution, digits: 2)
        // The sentence contains the separation of the geoid. The simulation uses 45.0 m everywhere.
        let altitude = FixedPoint.text(solution.altitude, digits: 1)
        return sentence("GPGGA,\(moment.time),\(place(solution)),1,\(used),\(dilution),\(altitude),M,45.0,M,,")
    }

    private static func gsa(_ observation: Observation) -> String {
        var numbers = observation.satellites.filter(\.isUsed).prefix(12).map { FixedPoint.padded($0.number, to: 2) }
        numbers += Array(repeating: "", count: 12 - numbers.count)
        let list = numbers.joined(separator: ",")
        guard let solution = observation.solution else {
            return sentence("GPGSA,A,1,\(list),99.99,99.99,99.99")
        }
        let (horizontal, vertical) = (solution.horizontalDilution, solution.verticalDilution)
        let position = (horizontal * horizontal + vertical * vertical).squareRoot()
        let values = [position, horizontal, vertical].map { FixedPoint.text($0, digits: 2) }.joined(separator: ",")
        return sentence("GPGSA,A,3,\(list),\(values)")
    }

    private static func gsv(_ observation: Observation) -> String {
        let satellites = observation.satellites
        let count = (satellites.count + 3) / 4
        return (0..<count).map { index in
            let group = satellites.dropFirst(index * 4).prefix(4).map { satellite in
                let strength = satellite.strength > 0 ? FixedPoint.padded(satellite.strength, to: 2) : ""
                return "," + FixedPoint.padded(satellite.number, to: 2) + ","
                    + FixedPoint.padded(satellite.elevation, to: 2) + ","
                    + FixedPoint.padded(satellite.azimuth, to: 3) + "," + strength
            }
            let total = FixedPoint.padded(satellites.count, to: 2)
            return sentence("GPGSV,\(count),\(index + 1),\(total)" + group.joined())
        }.joined()
    }

    private static func vtg(_ observation: Observation) -> String {
        guard let solution = observation.solution else { return sentence("GPVTG,,T,,M,,N,,K,N") }
        let course = solution.course.map { FixedPoint.text($0, digits: 2) } ?? ""
        let knots = FixedPoint.text(solution.speed * 3600 / 1852, digits: 3)
        let kilometres = FixedPoint.text(solution.speed * 3.6, digits: 3)
        return sentence("GPVTG,\(course),T,,M,\(knots),N,\(kilometres),K,A")
    }

    private static func rmc(_ observation: Observation, _ moment: Moment) -> String {
        guard let solution = observation.solution else {
            return sentence("GPRMC,\(moment.time),V,,,,,,,\(moment.date),,,N")
        }
        let knots = FixedPoint.text(solution.speed * 3600 / 1852, digits: 3)
        let course = solution.course.map { FixedPoint.text($0, digits: 2) } ?? ""
        return sentence("GPRMC,\(moment.time),A,\(place(solution)),\(knots),\(course),\(moment.date),,,A")
    }

    private static func gll(_ observation: Observation, _ moment: Moment) -> String {
        guard let solution = observation.solution else { return sentence("GPGLL,,,,,\(moment.time),V,N") }
        return sentence("GPGLL,\(place(solution)),\(moment.time),A,A")
    }

    private static func place(_ solution: Observation.Solution) -> String {
        let (latitude, longitude) = (solution.position.latitude, solution.position.longitude)
        return minutes(latitude, width: 2) + (latitude < 0 ? ",S," : ",N,") + minutes(longitude, width: 3)
            + (longitude < 0 ? ",W" : ",E")
    }

    /// Degrees and minutes in one number, to 1e-6 minute (2 mm). Rounding carries from the minutes into the degrees.
    private static func minutes(_ degrees: Double, width: Int) -> String {
        let micro = Int64((abs(degrees) * 60e6).rounded())
        let (whole, rest) = micro.quotientAndRemainder(dividingBy: 60_000_000)
        let (minute, part) = rest.quotientAndRemainder(dividingBy: 1_000_000)
        return FixedPoint.padded(whole, to: width) + FixedPoint.padded(minute, to: 2) + "."
            + FixedPoint.padded(part, to: 6)
    }
}

/// A time in the form of the sentences.
private struct Moment {
    /// hhmmss.ss
    let time: String
    /// ddmmyy
    let date: String

    init(_ stamp: Timestamp) {
        // The sentences have two digits after the second. A rate of 10 Hz needs one.
        let hundredths = stamp.milliseconds / 10
        let days = Int64((Double(hundredths) / 8_640_000).rounded(.down))
        let ofDay = hundredths - days * 8_640_000
        let second = ofDay / 100
        time =
            FixedPoint.padded(second / 3600, to: 2) + FixedPoint.padded(second / 60 % 60, to: 2)
            + FixedPoint.padded(second % 60, to: 2) + "." + FixedPoint.padded(ofDay % 100, to: 2)
        let civil = CivilDate(daysSince1970: days)
        date =
            FixedPoint.padded(civil.day, to: 2) + FixedPoint.padded(civil.month, to: 2)
            + FixedPoint.padded(civil.year % 100, to: 2)
    }
}

/// Writes decimal numbers with a fixed number of digits, the same on every machine.
enum FixedPoint {
    /// The value, rounded to `digits` digits after the point, with at least `width` digits before it (zero-padded).
    static func text(_ value: Double, digits: Int, width: Int = 1) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64((min(max(value, -1e9), 1e9) * Double(scale)).rounded())
        let (whole, part) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
        let sign = scaled < 0 ? "-" : ""
        let front = sign + padded(whole, to: width)
        return digits == 0 ? front : front + "." + padded(part, to: digits)
    }

    static func padded(_ value: some BinaryInteger, to width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
}
