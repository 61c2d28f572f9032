import JSON

/// Writes the points of a track as GPX 1.1, GeoJSON or KML, one after the other in the order of their times. Holds at most
/// one stretch of the track. ``TrackFileReader`` reads all of it again.
package struct TrackFileWriter {
    package enum Format: String, CaseIterable, Sendable {
        case gpx, geojson, kml
    }

    /// Milliseconds without a point after which a new stretch begins.
    package static let interruption: Int64 = 300_000
    /// Points of a stretch whose lists stand behind each other.
    static let stretchPoints = 5000

    private let format: Format
    private let name: String
    /// The stretch that is not written yet; of GPX its last point.
    private var stretch: [WrittenPoint] = []
    private var hasStretches = false

    /// `name`: whose track it is.
    package init(_ format: Format, name: String) {
        (self.format, self.name) = (format, name)
    }

    /// The beginning of the file. `roads`: GPX and KML have the remark here.
    package func begin(_ roads: WrittenRoads? = nil) -> String {
        switch format {
        case .gpx: GPXText.begin(name, roads)
        case .geojson: GeoJSONText.begin(name)
        case .kml: KMLText.begin(name, roads)
        }
    }

    /// What is to be written now; may be empty.
    package mutating func add(_ point: WrittenPoint) -> String {
        let last = stretch.last
        let isApart = last.map { point.time.subtractingReportingOverflow($0.time).partialValue >= Self.interruption }
        if format == .gpx {
            stretch = [point]
            let cut = isApart == nil ? "<trkseg>\n" : isApart == true ? "</trkseg>\n<trkseg>\n" : ""
            return cut + GPXText.point(point)
        }
        let text = isApart == true || stretch.count == Self.stretchPoints ? flush() : ""
        stretch.append(point)
        return text
    }

    /// The end of the file. `gaps`: of the track; only GeoJSON has them. `roads`: GeoJSON has the remark here.
    package mutating func end(_ gaps: [WrittenGap] = [], _ roads: WrittenRoads? = nil) -> String {
        switch format {
        case .gpx: return (stretch.isEmpty ? "" : "</trkseg>\n") + GPXText.end
        case .geojson:
            var text = flush()
            for gap in gaps {
                text += (hasStretches ? ",\n" : "\n") + GeoJSONText.feature(gap)
                hasStretches = true
            }
            return text + "\n]" + (roads.map { ",\"roads\":\($0.json)" } ?? "") + "}\n"
        case .kml: return flush() + KMLText.end
        }
    }

    private mutating func flush() -> String {
        guard !stretch.isEmpty else { return "" }
        defer { (stretch, hasStretches) = ([], true) }
        return format == .geojson
            ? (hasStretches ? ",\n" : "\n") + GeoJSONText.feature(stretch) : KMLText.track(stretch)
    }
}

/// GPX 1.1 (topografix.com/GPX/1/1); speed and course as Garmin's TrackPointExtension v2 has them.
enum GPXText {
    static func begin(_ name: String, _ roads: WrittenRoads?) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="saker" xmlns="http://www.topografix.com/GPX/1/1" \
        xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" xmlns:saker="urn:saker:point">
        \(roads.map(metadata) ?? "")<trk><name>\(FileText.xml(name))</name>

        """
    }

    private static func metadata(_ roads: WrittenRoads) -> String {
        let credit = roads.attribution.map { "<copyright author=\"\(FileText.xml($0))\"/>" } ?? ""
        return "<metadata>\(element("desc", FileText.xml(roads.text)))\(credit)</metadata>\n"
    }

    static let end = "</trk>\n</gpx>\n"

    static func point(_ point: WrittenPoint) -> String {
        var text =
            "<trkpt lat=\"\(FileText.degrees(point.latitude))\" lon=\"\(FileText.degrees(point.longitude))\">"
        if let altitude = point.altitude { text += element("ele", FileText.decimal(altitude, 3)) }
        text += element("time", FileText.time(point.time))
        let motion = [("speed", point.speed), ("course", point.course)].compactMap { name, value in
            value.map { element("gpxtpx:\(name)", FileText.decimal($0, 3)) }
        }
        var extensions = motion.isEmpty ? "" : element("gpxtpx:TrackPointExtension", motion.joined())
        if let accuracy = point.accuracy { extensions += element("saker:accuracy", FileText.decimal(accuracy, 3)) }
        if let object = point.objectName { extensions += element("saker:object_name", FileText.xml(object)) }
        for (key, value) in point.attributes.sorted(by: { $0.key < $1.key }) {
            extensions +=
                "<saker:value key=\"\(FileText.xml(key))\">\(FileText.xml(FileText.plain(value)))</saker:value>"
        }
        return text + (extensions.isEmpty ? "" : element("extensions", extensions)) + "</trkpt>\n"
    }

    private static func element(_ name: String, _ content: String) -> String { "<\(name)>\(content)</\(name)>" }
}

/// A stretch of a track as a feature of GeoJSON: a line, its times (`coordTimes`) and lists of what else its points have
/// (`coordinateProperties`), as the tools of GPX write them.
enum GeoJSONText {
    /// The name stands beside the features: a member of theirs would become an attribute of every point.
    static func begin(_ name: String) -> String {
        var json = JSONWriter()
        json.string(name)
        return "{\"type\":\"FeatureCollection\",\"name\":\(String(decoding: json.bytes, as: UTF8.self)),\"features\":["
    }

    static func feature(_ stretch: [WrittenPoint]) -> String {
        var json = JSONWriter(wholeDoubles: .withoutPoint)
        json.object { feature in
            feature.member("type", "Feature")
            feature.object("geometry") { geometry in
                // A line has two places at least.
                if stretch.count == 1, let point = stretch.first {
                    geometry.member("type", "Point")
                    geometry.name("coordinates")
                    write(point, to: &geometry)
                } else {
                    geometry.member("type", "LineString")
                    geometry.array("coordinates") { list in for point in stretch { write(point, to: &list) } }
                }
            }
            feature.object("properties") { properties in
                properties.array("coordTimes") { list in for point in stretch { list.string(FileText.time(point.time)) }
                }
                let values = stretch.map(\.values)
                let keys = Set(values.flatMap(\.keys)).sorted()
                guard !keys.isEmpty else { return }
                properties.object("coordinateProperties") { lists in
                    for key in keys {
                        lists.array(key) { list in for value in values { list.value(value[key] ?? .null) } }
                    }
                }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    static func feature(_ gap: WrittenGap) -> String {
        var json = JSONWriter()
        json.object { feature in
            feature.member("type", "Feature")
            feature.name("geometry")
            feature.value(.null)
            feature.object("properties") { properties in
                properties.member("gap", gap.reason)
                if let detail = gap.detail { properties.member("detail", detail) }
                properties.member("from", FileText.time(gap.from))
                properties.member("until", FileText.time(gap.until))
                if let lost = gap.lostPoints { properties.member("lost_points", lost) }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ point: WrittenPoint, to json: inout JSONWriter) {
        json.array {
            $0.rounded(point.longitude, digits: 7)
            $0.rounded(point.latitude, digits: 7)
            if let altitude = point.altitude { $0.rounded(altitude, digits: 3) }
        }
    }
}

/// KML 2.2 with a `gx:Track` for each stretch, the lists of which stand in the order of the schema.
enum KMLText {
    static func begin(_ name: String, _ roads: WrittenRoads?) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
        <Document><name>\(FileText.xml(name))</name>\(roads.map { "<description>\(FileText.xml($0.text))</description>" } ?? "")
        <Placemark><name>\(FileText.xml(name))</name><gx:MultiTrack>
        <altitudeMode>absolute</altitudeMode><gx:interpolate>0</gx:interpolate>

        """
    }

    static let end = "</gx:MultiTrack></Placemark>\n</Document>\n</kml>\n"

    static func track(_ stretch: [WrittenPoint]) -> String {
        var text = "<gx:Track>\n"
        for point in stretch { text += "<when>\(FileText.time(point.time))</when>\n" }
        for point in stretch {
            let altitude = point.altitude.map { " \(FileText.decimal($0, 3))" } ?? ""
            text +=
                "<gx:coord>\(FileText.degrees(point.longitude)) \(FileText.degrees(point.latitude))\(altitude)</gx:coord>\n"
        }
        let values = stretch.map(\.values)
        let keys = Set(values.flatMap(\.keys)).sorted()
        if !keys.isEmpty {
            text += "<ExtendedData><SchemaData>\n"
            for key in keys {
                text += "<gx:SimpleArrayData name=\"\(FileText.xml(key))\">"
                for value in values {
                    text += "<gx:value>\(value[key].map { FileText.xml(FileText.plain($0)) } ?? "")</gx:value>"
                }
                text += "</gx:SimpleArrayData>\n"
            }
            text += "</SchemaData></ExtendedData>\n"
        }
        return text + "</gx:Track>\n"
    }
}
