package import ArgumentParser
internal import FenceJSON
package import Geodesy
internal import JSON

/// Places as people write them: `40.04,116.3`, or several with blanks or semicolons between them.
package enum PlaceText {
    package static let form = "LAT,LON"

    /// - Throws: ``ValidationError`` that names the option, the piece and what is needed.
    package static func places(_ text: String, _ option: String) throws(ValidationError) -> [Degrees] {
        var rest = Array(text.utf8)[...]
        var places: [Degrees] = []
        skip(&rest) { isSpace($0) || $0 == UInt8(ascii: ";") }
        while !rest.isEmpty {
            let latitude = try number(&rest, option, text)
            skip(&rest, isSpace)
            guard rest.first == UInt8(ascii: ",") else {
                throw ValidationError(
                    "\(option) \(FenceJSONError.quoted(text)): a comma is needed between latitude and longitude, as in 40.04,116.3"
                )
            }
            rest = rest.dropFirst()
            skip(&rest, isSpace)
            let place = Degrees(latitude: latitude, longitude: try number(&rest, option, text))
            guard (-90...90).contains(place.latitude), (-180...180).contains(place.longitude) else {
                throw ValidationError(
                    "\(option) \(FenceJSONError.quoted(text)): \(place.latitude),\(place.longitude) is no place: a latitude is -90 to 90"
                        + " and comes first, a longitude is -180 to 180")
            }
            places.append(place)
            skip(&rest) { isSpace($0) || $0 == UInt8(ascii: ";") }
        }
        guard !places.isEmpty else { throw ValidationError("\(option) is empty: give \(form)") }
        return places
    }

    /// Exactly one place.
    package static func place(_ text: String, _ option: String) throws(ValidationError) -> Degrees {
        let places = try places(text, option)
        guard places.count == 1 else {
            throw ValidationError("\(option) \(FenceJSONError.quoted(text)) has \(places.count) places: give one")
        }
        return places[0]
    }

    private static func number(
        _ rest: inout ArraySlice<UInt8>, _ option: String, _ text: String
    ) throws(ValidationError) -> Double {
        let piece = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") }
        rest = rest.dropFirst(piece.count)
        let word = String(decoding: piece, as: UTF8.self)
        guard let number = Double(decimal: word) else {
            throw ValidationError(
                "\(option) \(FenceJSONError.quoted(text)): \(FenceJSONError.quoted(word)) is no number of degrees: give \(form), as in 40.04,116.3"
            )
        }
        return number
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func skip(_ rest: inout ArraySlice<UInt8>, _ isSkipped: (UInt8) -> Bool) {
        rest = rest.drop(while: isSkipped)
    }
}

/// The datum of coordinates on the command line and in files.
package enum DatumArgument: String, CaseIterable, ExpressibleByArgument {
    case wgs84, gcj02, bd09

    package init?(argument: String) {
        // The Web API's name of BD-09.
        self.init(rawValue: argument.lowercased() == "bd09ll" ? "bd09" : argument.lowercased())
    }

    package var datum: Datum {
        switch self {
        case .wgs84: .wgs84
        case .gcj02: .gcj02
        case .bd09: .bd09
        }
    }
}
