import Geodesy
import TrackModel
import TrackStore

/// A stored point in the API's units and the datum the client asked for.
struct PointJSON {
    let coordinateType: CoordinateType
    let clock: WallClock

    /// The service's track columns: what else a point carries belongs to a column that is gone, or had another type.
    let columns: [String: AttributeType]

    /// Time and place, and `coord_type` where it is not the one asked for.
    func position(_ point: TrackPoint) -> [JSON.Member] {
        let place = Place(point)
        let (longitude, latitude) = place.degrees(in: coordinateType)
        var members = [
            JSON.Member("loc_time", .integer(point.fix.time.seconds)),
            JSON.Member("longitude", longitude),
            JSON.Member("latitude", latitude),
        ]
        // Outside China there is only WGS 84, whatever was asked for.
        if !place.isInChina { members.append(JSON.Member("coord_type", .string(CoordinateType.wgs84.rawValue))) }
        return members
    }

    /// Everything that is known of a point; what is not known is left out.
    func members(_ point: TrackPoint) -> [JSON.Member] {
        var members: [JSON.Member] = []
        members.reserveCapacity(10 + point.attributes.count)
        members += position(point)
        let fix = point.fix
        // Clients read the direction into an integer: the fraction is cut off.
        if let course = fix.course { members.append(JSON.Member("direction", .integer(Int64(course / 10)))) }
        if let altitude = fix.altitude { members.append(JSON.Member("height", .decimal(Int64(altitude), digits: 1))) }
        if let accuracy = fix.accuracy { members.append(JSON.Member("radius", .decimal(Int64(accuracy), digits: 1))) }
        if let speed = fix.speed { members.append(JSON.Member("speed", Speed.json(centimetresPerSecond: speed))) }
        if let name = point.objectName { members.append(JSON.Member("object_name", .string(name))) }
        // Not of the original service; a column of this name goes first.
        if point.isParked, columns["parked"] == nil { members.append(JSON.Member("parked", .integer(1))) }
        guard !point.attributes.isEmpty else { return members }
        for (key, value) in point.attributes.sorted(by: { $0.key < $1.key }) {
            guard let value = columns[key]?.converted(value) else { continue }
            switch value {
            case .integer(let value): members.append(JSON.Member(key, .integer(value)))
            case .double(let value): members.append(JSON.Member(key, .double(value)))
            case .string(let value): members.append(JSON.Member(key, .string(value)))
            }
        }
        return members
    }

    /// A list of each point's members with the time at which the server received it.
    func track(_ points: some Collection<StoredPoint>) -> JSON {
        // Points come in batches: most were received in the same second as the one before.
        var former: (seconds: Int64, text: String?)?
        var bytes: [UInt8] = []
        // Some 150 bytes a point are usual.
        bytes.reserveCapacity(2 + 160 * points.count)
        bytes.append(UInt8(ascii: "["))
        for stored in points {
            if former != nil { bytes.append(UInt8(ascii: ",")) }
            var members = members(stored.point)
            let seconds = stored.received.seconds
            let text = former?.seconds == seconds ? former?.text : clock.text(stored.received)
            former = (seconds, text)
            if let text { members.append(JSON.Member("create_time", .string(text))) }
            JSON.object(members).write(to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
        return .encoded(bytes)
    }
}

/// Where a stored point is, in every datum.
struct Place {
    let stored: Coordinate
    let storedType: CoordinateType
    /// WGS 84. Outside China there is no other datum, so there the stored numbers are it, whatever they were called.
    let wgs84: Degrees
    let isInChina: Bool

    init(_ point: TrackPoint) {
        stored = point.fix.coordinate
        storedType = point.coordinateType
        let given = Degrees(latitude: stored.latitude, longitude: stored.longitude)
        let converted = DatumConversion.convert(given, from: storedType.datum, to: .wgs84)
        isInChina = DatumConversion.isInChina(latitude: converted.latitude, longitude: converted.longitude)
        wgs84 = isInChina ? converted : given
    }

    /// The stored numbers themselves when no conversion is needed.
    func degrees(in type: CoordinateType) -> (longitude: JSON, latitude: JSON) {
        guard isInChina, type != storedType else {
            return (
                .decimal(Int64(stored.longitudeE7), digits: 7), .decimal(Int64(stored.latitudeE7), digits: 7)
            )
        }
        let given = Degrees(latitude: stored.latitude, longitude: stored.longitude)
        let converted = DatumConversion.convert(given, from: storedType.datum, to: type.datum)
        return (.rounded(converted.longitude, digits: 10), .rounded(converted.latitude, digits: 10))
    }
}

extension CoordinateType {
    var datum: Datum {
        switch self {
        case .wgs84: .wgs84
        case .gcj02: .gcj02
        case .bd09ll: .bd09
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

    /// With one decimal when that is enough to mean the stored speed, else with two: what was uploaded comes back.
    static func json(centimetresPerSecond speed: Int32) -> JSON {
        let tenths = (Double(speed) * 0.36).rounded()
        if centimetresPerSecond(tenths / 10) == speed { return .decimal(Int64(tenths), digits: 1) }
        return .decimal(Int64((Double(speed) * 3.6).rounded()), digits: 2)
    }
}
