import Testing

@testable import TrackFiles

/// Placemarks of KML: each of their places is a point, or is told.
@Suite struct KMLPlacemarkTests {
    private static let time = "<TimeStamp><when>2026-03-05T08:20:12Z</when></TimeStamp>"

    private func read(_ inner: String) throws -> (points: [FilePoint], notes: [String]) {
        let text = "<kml xmlns:gx=\"x\"><Document>\(inner)</Document></kml>"
        var reader = try TrackFileReader(ByteSource(bytes: Array(text.utf8)))
        var points: [FilePoint] = []
        while let point = try reader.next() { points.append(point) }
        return (points, reader.notes)
    }

    private func point(_ place: String) -> String { "<Point><coordinates>\(place)</coordinates></Point>" }

    @Test func aPlaceWithoutATimeIsAPointWithoutATime() throws {
        let found = try read(
            """
            <Placemark>\(Self.time)\(point("4.25,52.5"))</Placemark>
            <Placemark><name>x</name>\(point("4.5,52.75"))</Placemark>
            <Placemark><LookAt>\(Self.time)</LookAt>\(point("5,53"))</Placemark>
            <Placemark><TimeSpan><end>2026-03-05T08:20:13Z</end></TimeSpan>\(point("6,54"))</Placemark>
            """
        ).points
        #expect(found.map { $0.fields[.time] } == ["2026-03-05T08:20:12Z", nil, nil, nil], "\(found)")
        #expect(found.map { $0.fields[.longitude] } == ["4.25", "4.5", "5", "6"])
        #expect(found.map(\.place) == ["line 1", "line 2", "line 3", "line 4"])
        #expect(found.allSatisfy { $0.problem == nil })
    }

    @Test func aSpanOfTimeBeginsWithItsPoint() throws {
        let span = "<TimeSpan><begin> 2026-03-05T08:20:12Z </begin><end>2026-03-05T09:20:12Z</end></TimeSpan>"
        let found = try read(
            "<Placemark>\(span)\(point("4.25,52.5"))</Placemark><Placemark>\(point("4.5,52.5"))\(span)</Placemark>"
        ).points
        #expect(found.map { $0.fields[.time] } == ["2026-03-05T08:20:12Z", "2026-03-05T08:20:12Z"], "\(found)")
        #expect(found.map { $0.fields[.longitude] } == ["4.25", "4.5"])
    }

    @Test func eachPlaceOfAPlacemarkIsAPoint() throws {
        let found = try read(
            "<Placemark>\(Self.time)<MultiGeometry>\(point("4,52"))<MultiGeometry>\(point("5,52"))<Point/>"
                + "</MultiGeometry>\(point("north"))</MultiGeometry></Placemark>"
        ).points
        #expect(found.map { $0.fields[.longitude] } == ["4", "5", nil, nil], "\(found)")
        #expect(found.map(\.place) == (1...4).map { "line 1, point \($0)" })
        #expect(found.map { $0.problem == nil } == [true, true, false, false])
        #expect(found.prefix(2).allSatisfy { $0.fields[.time] == "2026-03-05T08:20:12Z" })
    }

    @Test func aPlaceBesideATrackAndOneInNoPlacemarkAreNotLost() throws {
        let track = "<gx:Track><when>2026-03-05T08:20:10Z</when><gx:coord>4 52</gx:coord></gx:Track>"
        let found = try read(
            "<Placemark>\(Self.time)<MultiGeometry>\(track)\(point("5,52"))</MultiGeometry></Placemark>\(point("6,52"))"
                + "<PhotoOverlay>\(Self.time)\(point("7,52"))</PhotoOverlay>"
        ).points
        #expect(found.map { $0.fields[.longitude] } == ["4", "5", "6", "7"], "\(found)")
        #expect(
            found.map { $0.fields[.time]?.suffix(3) } == ["10Z", "12Z", nil, "12Z"] as [Substring?], "\(found)")
    }

    /// A line has one time at most, and its places have none.
    @Test(arguments: ["LineString", "LinearRing", "Polygon", "Model"])
    func whatHasATimeAndIsNoPointIsToldWithItsLine(geometry: String) throws {
        let inner =
            switch geometry {
            case "Polygon":
                "<outerBoundaryIs><LinearRing><coordinates>1,2 3,4 5,6 1,2</coordinates></LinearRing></outerBoundaryIs>"
            case "Model": "<Location><longitude>1</longitude><latitude>2</latitude></Location>"
            default: "<coordinates>1,2 3,4</coordinates>"
            }
        let shape = "<\(geometry)>\(inner)</\(geometry)>"
        let found = try read(
            "<Placemark>\(Self.time)\(point("4,52"))</Placemark>\n<Placemark>\(Self.time)\(shape)</Placemark>")
        try #require(found.points.count == 2, "\(found)")
        let last = found.points[1]
        #expect(last.place == "line 2", "\(found)")
        #expect(last.problem?.hasPrefix("a \(geometry) has no time for each place") == true, "\(found)")
        #expect(found.notes.isEmpty)
        let span = try read("<Placemark><TimeSpan><begin>2026</begin></TimeSpan>\(shape)</Placemark>")
        #expect(span.points.map { $0.problem != nil } == [true])
        // Without any time it is a way or an area, and no track.
        let plain = try read("<Placemark>\(shape)</Placemark><Placemark>\(shape)</Placemark>")
        #expect(plain.points.isEmpty)
        #expect(plain.notes == ["2 of the type \(geometry) are not read: they have no times, a gx:Track has"])
        #expect(try read("<Placemark>\(shape)</Placemark>").notes.first?.contains("it has no times") == true)
    }

    @Test func dataOfAPlacemarkAreItsAttributes() throws {
        let found = try read(
            """
            <Placemark>\(Self.time)<ExtendedData><Data name="floor"><displayName>Etage</displayName><value>3</value></Data>
            <SchemaData schemaUrl="#s"><SimpleData name="fuel">51</SimpleData><SimpleData name="heading">90</SimpleData>
            <SimpleData name="course">80</SimpleData><SimpleData name="note"/></SchemaData></ExtendedData>
            \(point("4.25,52.5,7"))</Placemark>
            <Placemark>\(Self.time)<MultiGeometry>\(point("4,52"))\(point("5,52"))</MultiGeometry>
            <ExtendedData><Data name="floor"><value>B1</value></Data><Data name="Elevation"><value>9</value></Data></ExtendedData></Placemark>
            <Placemark>\(point("6,52"))<ExtendedData xmlns:v="urn:v"><v:floor>4</v:floor>
            <Data name="timestamp"><value>1772698812</value></Data><Data name="Course"><value>0.00 ° True</value></Data>
            <Data name="lat"><value>1</value></Data></ExtendedData></Placemark>
            """
        ).points
        try #require(found.count == 4)
        #expect(found[0].attributes == ["floor": "3", "fuel": "51", "heading": "90"], "\(found[0])")
        #expect(found[0].fields[.course] == "80" && found[0].fields[.altitude] == "7")
        #expect(found[1].attributes == ["floor": "B1"] && found[2].attributes == ["floor": "B1"])
        #expect(found[2].fields[.altitude] == "9")
        // A text that is no number stays as it is.
        #expect(found[3].attributes == ["floor": "4", "Course": "0.00 ° True", "lat": "1"], "\(found[3])")
        #expect(found[3].fields[.time] == "1772698812" && found[3].fields[.latitude] == "52")
    }

    @Test func dataOfATrackAreThoseOfAllItsPoints() throws {
        let times = "<when>a</when><when>b</when><gx:coord>4 52</gx:coord><gx:coord>5 52</gx:coord>"
        let own = "<ExtendedData><Data name=\"floor\"><value>3</value></Data></ExtendedData>"
        let lists =
            "<ExtendedData><SchemaData><gx:SimpleArrayData name=\"fuel\"><gx:value>1</gx:value><gx:value>2</gx:value>"
            + "</gx:SimpleArrayData></SchemaData><Data name=\"floor\"><value>2</value></Data></ExtendedData>"
        for text in [
            "<Placemark>\(own)<gx:Track>\(times)</gx:Track></Placemark>", "<gx:Track>\(times)\(own)</gx:Track>",
        ] {
            let found = try read(text).points
            #expect(found.map(\.attributes) == [["floor": "3"], ["floor": "3"]], "\(found)")
        }
        // What a track says counts before what its placemark says.
        let both = try read("<Placemark>\(own)<gx:Track>\(times)\(lists)</gx:Track></Placemark>").points
        #expect(both.map(\.attributes) == [["floor": "2", "fuel": "1"], ["floor": "2", "fuel": "2"]], "\(both)")
        let late = try read("<Placemark><gx:Track>\(times)</gx:Track>\(own)</Placemark>").points
        #expect(late.count == 3 && late[2].problem?.contains("\"floor\"") == true, "\(late)")
    }

    @Test func aRouteIsNotLedOverMarks() throws {
        let text =
            "<kml><Document><Placemark>\(point("1,2"))</Placemark><Placemark>\(Self.time)\(point("4,52"))</Placemark>"
            + "<Placemark>\(Self.time)\(point("5,52"))</Placemark></Document></kml>"
        let route = try TrackFileReader.route(ByteSource(bytes: Array(text.utf8)), limit: 10)
        #expect(route.map { $0.fields[.longitude] } == ["4", "5"])
    }
}
