import Geodesy
import JSON
import TrackModel
import TrackStore

/// Writes stored points in the API's units and in the datum that the client asked for.
struct PointWriter {
    let coordinateType: CoordinateType
    let clock: WallClock

    /// Of the service. Other values of a point belong to a column that is gone or had another type.
    let schema: AttributeSchema

    /// Members for time and place, and `coord_type` where it is not the one asked for.
    func writePosition(of point: TrackPoint, to object: inout JSONWriter) {
        let place = Place(point)
        object.member("loc_time", point.fix.time.seconds)
        place.write(as: coordinateType, to: &object)
        // Outside China there is only WGS 84, whatever was asked for.
        if !place.isInChina { object.member("coord_type", CoordinateType.wgs84.rawValue) }
    }

    /// What the published service says of an entity without points: a place and a time of 0. Pages read them unguarded.
    static func writeNothing(to object: inout JSONWriter) {
        for name in ["longitude", "latitude", "loc_time"] { object.member(name, 0) }
    }

    /// Members for the known values of a point; unknown values are left out.
    func write(_ point: TrackPoint, to object: inout JSONWriter) {
        writePosition(of: point, to: &object)
        let fix = point.fix
        // Clients read the direction into an integer: the fraction is cut off.
        if let course = fix.course { object.member("direction", Int64(course / 10)) }
        if let altitude = fix.altitude { writeTenths("height", altitude, to: &object) }
        if let accuracy = fix.accuracy { writeTenths("radius", accuracy, to: &object) }
        if let speed = fix.speed {
            object.name("speed")
            Speed.write(centimetresPerSecond: speed, to: &object)
        }
        if let name = point.objectName { object.member("object_name", name) }
        // `parked` is not of the published API; a column of this name goes first.
        if point.isParked, schema.types["parked"] == nil { object.member("parked", 1) }
        if fix.isClockTime, schema.types["clock_time"] == nil { object.member("clock_time", 1) }
        guard !point.attributes.isEmpty else { return }
        for (key, value) in point.attributes.sorted(by: { $0.key < $1.key }) {
            guard let value = schema.kept(value, under: key) else { continue }
            switch value {
            case .integer(let value): object.member(key, value)
            case .double(let value): object.member(key, value)
            case .string(let value): object.member(key, value)
            }
        }
    }

    private func writeTenths(_ name: String, _ tenths: Int32, to object: inout JSONWriter) {
        object.name(name)
        object.decimal(Int64(tenths), digits: 1)
    }

    /// Points whose text is measured.
    private static let measured = 64

    /// Objects of all points, each with the time at which the server received it.
    func write(_ points: some Collection<ShownPoint>, to list: inout JSONWriter) {
        // Points come in batches: most were received in the same second as the one before.
        var former: (seconds: Int64, text: String?)?
        // The first points tell how long the text becomes: it then gets its memory once.
        let start = list.bytes.count
        var left = points.count
        for shown in points {
            if left == points.count - Self.measured {
                let mean = (list.bytes.count - start) / Self.measured
                list.reserve((mean + mean / 16 + 1) * left)
            }
            left -= 1
            let stored = shown.stored
            if let supplement = shown.supplement {
                list.object {
                    writePosition(of: stored.point, to: &$0)
                    $0.member("_supplement", supplement.rawValue)
                }
                continue
            }
            let seconds = stored.received.seconds
            let text = former?.seconds == seconds ? former?.text : clock.text(stored.received)
            former = (seconds, text)
            list.object { object in
                write(stored.point, to: &object)
                shown.processing?.write(stored.point.fix, to: &object)
                if let text { object.member("create_time", text) }
            }
        }
    }
}

/// Where a stored point is, in every datum.
struct Place {
    private let stored: Coordinate
    private let storedType: CoordinateType
    /// WGS 84. Outside China there is no other datum: there the stored numbers are WGS 84, whatever they were called.
    let wgs84: Degrees
    let isInChina: Bool

    init(_ point: TrackPoint) { self.init(point.fix.coordinate, point.coordinateType) }

    /// A place that was computed.
    init(wgs84 place: Coordinate) { self.init(place, .wgs84) }

    private init(_ coordinate: Coordinate, _ type: CoordinateType) {
        stored = coordinate
        storedType = type
        let given = Degrees(latitude: stored.latitude, longitude: stored.longitude)
        (wgs84, isInChina) = DatumConversion.wgs84(given, givenAs: storedType.datum)
    }

    /// Members `longitude` and `latitude`: the stored numbers themselves when no conversion is needed.
    func write(as type: CoordinateType, to object: inout JSONWriter) {
        guard isInChina, type != storedType else {
            object.name("longitude")
            object.decimal(Int64(stored.longitudeE7), digits: 7)
            object.name("latitude")
            object.decimal(Int64(stored.latitudeE7), digits: 7)
            return
        }
        let given = Degrees(latitude: stored.latitude, longitude: stored.longitude)
        let converted = DatumConversion.convert(given, from: storedType.datum, to: type.datum)
        object.name("longitude")
        object.rounded(converted.longitude, digits: 10)
        object.name("latitude")
        object.rounded(converted.latitude, digits: 10)
    }
}

/// Writes places that were computed, in the datum that the client asked for.
struct PlaceWriter {
    let coordinateType: CoordinateType

    /// When a place says its datum.
    enum Naming {
        /// As in tracks: only outside China, where it is not the one asked for.
        case outsideChina
        /// As in driving behaviour.
        case always
    }

    /// Members `longitude` and `latitude`, and `coord_type`.
    func write(_ place: Degrees, naming: Naming = .outsideChina, to object: inout JSONWriter) {
        guard let coordinate = Coordinate(latitude: place.latitude, longitude: place.longitude) else { return }
        let place = Place(wgs84: coordinate)
        place.write(as: coordinateType, to: &object)
        if !place.isInChina {
            object.member("coord_type", CoordinateType.wgs84.rawValue)
        } else if naming == .always {
            object.member("coord_type", coordinateType.rawValue)
        }
    }
}

/// Speeds are kilometres per hour in the API and centimetres per second in the store.
enum Speed {
    /// Nil when negative, not finite, or beyond what the store holds.
    static func centimetresPerSecond(_ kilometresPerHour: Double) -> Int32? {
        let value = (kilometresPerHour / 0.036).rounded()
        guard value >= 0, value <= Double(Int32.max) else { return nil }
        return Int32(value)
    }

    /// With one decimal when that gives the stored speed exactly, otherwise with two, so that the client gets the speed
    /// that it uploaded.
    static func write(centimetresPerSecond speed: Int32, to writer: inout JSONWriter) {
        let tenths = (Double(speed) * 0.36).rounded()
        if centimetresPerSecond(tenths / 10) == speed {
            writer.decimal(Int64(tenths), digits: 1)
        } else {
            writer.decimal(Int64((Double(speed) * 3.6).rounded()), digits: 2)
        }
    }
}

/// Times as the API shows them to people: `2026-03-02 10:15:30` in one fixed zone.
struct WallClock: Sendable {
    /// Minutes east of UTC.
    let zoneMinutes: Int

    /// Nil outside the years 1 to 9999, which no date parser of a client takes.
    func text(_ time: Timestamp) -> String? {
        guard (-62_135_596_800 + 86_400...253_402_300_799 - 86_400).contains(time.seconds) else { return nil }
        let seconds = time.seconds + Int64(zoneMinutes) * 60
        let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        let date = CivilDate(daysSince1970: days)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let year = String(String(date.year + 10_000).dropFirst())
        let day = "\(year)-\(two(date.month))-\(two(date.day))"
        return "\(day) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    }
}
