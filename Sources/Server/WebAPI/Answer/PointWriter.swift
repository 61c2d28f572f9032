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
