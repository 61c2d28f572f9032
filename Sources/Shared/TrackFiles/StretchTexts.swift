import JSON

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
