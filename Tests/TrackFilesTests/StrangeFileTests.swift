import Testing

@testable import TrackFiles

/// Files as other programs write them, and damaged ones: each point is right, or it is told what is wrong with it.
@Suite struct StrangeFileTests {
    private func points(_ text: String) throws -> [FilePoint] {
        var reader = try TrackFileReader(ByteSource(bytes: Array(text.utf8)))
        var points: [FilePoint] = []
        while let point = try reader.next() { points.append(point) }
        return points
    }

    private func notes(_ text: String) throws -> [String] {
        var reader = try TrackFileReader(ByteSource(bytes: Array(text.utf8)))
        while try reader.next() != nil {}
        return reader.notes
    }

    private func problem(_ text: String) -> String {
        do {
            return "no problem: \(try points(text))"
        } catch {
            return "\(error)"
        }
    }

    // MARK: GPX

    private func gpx(_ inner: String) -> String {
        "<gpx><trk><trkseg><trkpt lat=\"52.5\" lon=\" 4.25 \">\(inner)</trkpt></trkseg></trk></gpx>"
    }

    @Test(
        arguments: [
            // The element of GPX 1.0, and Garmin's beside it.
            (
                "<speed>12.5</speed><extensions><g:TrackPointExtension><g:speed>12.5</g:speed></g:TrackPointExtension></extensions>",
                "12.5"
            ),
            ("<speed>5</speed><extensions><speed>5</speed></extensions>", "5"),
            // Whoever says km/h in an extension says it beside the point's own metres per second.
            ("<extensions><v:speed>45</v:speed></extensions><speed>12.5</speed>", "12.5"),
            (
                "<extensions><v:speed>45</v:speed><g:TrackPointExtension><g:speed>12.5</g:speed></g:TrackPointExtension></extensions>",
                "12.5"
            ),
            ("<extensions><osmand:speed>12.5</osmand:speed><osmand:heading>90</osmand:heading></extensions>", "12.5"),
            ("<extensions><v:a><v:b><v:speed> 12.5 </v:speed></v:b></v:a></extensions>", "12.5"),
            ("<speed><!-- m/s -->12<![CDATA[.5]]></speed>", "12.5"), ("<speed/>", nil), ("<speed></speed>", nil),
            ("<extensions><v:speed unit=\"km/h\">45</v:speed></extensions>", "12.5"),
            ("<extensions><v:speed uom=\"kn\">0</v:speed></extensions>", "0.0"),
        ] as [(String, String?)])
    func aSpeedStandsInItsOwnElementOrInAVendors(inner: String, speed: String?) throws {
        let point = try #require(try points(gpx(inner)).first)
        #expect(point.fields[.speed] == speed && point.problem == nil, "\(point)")
    }

    @Test func theCourseIsReadAsTheSpeedIs() throws {
        let point = try #require(
            try points(
                gpx(
                    "<course>9</course><extensions><g:TrackPointExtension><g:course>9</g:course></g:TrackPointExtension></extensions>"
                )
            ).first)
        #expect(point.fields[.course] == "9")
    }

    @Test func timeAndHeightAreThePointsOwn() throws {
        let inner =
            "<ele>3</ele><time>2026-03-05T08:20:12Z</time><link><text>t</text></link>"
            + "<extensions><v:photo><time>2020-01-01T00:00:00Z</time><ele>99</ele></v:photo></extensions>"
        let point = try #require(try points(gpx(inner)).first)
        #expect(point.fields[.time] == "2026-03-05T08:20:12Z" && point.fields[.altitude] == "3")
        #expect(point.fields[.longitude] == "4.25")
    }

    @Test func twoValuesThatDifferAreNoValue() throws {
        for inner in [
            "<speed>5</speed><speed>6</speed>", "<extensions><a:speed>5</a:speed><b:speed>18</b:speed></extensions>",
        ] {
            let point = try #require(try points(gpx(inner)).first)
            #expect(point.problem?.contains("speed stands twice") == true, "\(point)")
        }
        #expect(
            try points(gpx("<extensions><a:speed>5</a:speed><b:speed>5.0</b:speed></extensions>")).first?.problem == nil
        )
    }

    @Test func aBadPlaceIsOnePointAndNotTheFile() throws {
        let text = """
            <gpx><trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="north" lon="2"/>
            <trkpt lon="2"/><trkpt lat="5,5" lon="2"/><trkpt lat="3" lon="2"><ele>high</ele></trkpt></trkseg></trk>
            <wpt lat="1" lon="2"/></gpx>
            """
        let found = try points(text)
        #expect(found.map { $0.problem == nil } == [true, false, false, false, true])
        #expect(found[1].place == "line 2" || found[1].place == "line 1")
        #expect(found[1].problem?.contains("lat=\"north\"") == true)
        #expect(try notes(text) == ["1 waypoint is not read: only the points of tracks are"])
        let two = text.replacing("</gpx>", with: #"<wpt lat="1" lon="2"/></gpx>"#)
        #expect(try notes(two) == ["2 waypoints are not read: only the points of tracks are"])
    }

    // MARK: KML

    private func kml(_ inner: String) -> String {
        "<kml xmlns:gx=\"x\"><Document><Placemark><gx:Track>\(inner)</gx:Track></Placemark></Document></kml>"
    }

    @Test func anEmptyPlaceOfATrackIsOnePoint() throws {
        let found = try points(
            kml(
                "<when>2026-03-05T08:20:12Z</when><when>2026-03-05T08:20:13Z</when><when>2026-03-05T08:20:14Z</when>"
                    + "<gx:coord>4 52 7</gx:coord><gx:coord/><gx:coord> 4.5\n52.5 </gx:coord>"))
        #expect(found.map { $0.fields[.latitude] } == ["52", nil, "52.5"])
        #expect(found[1].problem == "its place is empty")
        #expect(found[0].fields[.altitude] == "7" && found[2].fields[.altitude] == nil)
        #expect(found[2].fields[.time] == "2026-03-05T08:20:14Z")
    }

    @Test(arguments: ["4,9 52,5", "4,9 52", "4", "4 x", "4 52 7 8", "4,52 7,8", "4;52"])
    func aPlaceOfATrackIsReadRightOrNotAtAll(place: String) throws {
        let found = try points(kml("<when>2026-03-05T08:20:12Z</when><gx:coord>\(place)</gx:coord>"))
        #expect(found.count == 1 && found[0].problem != nil, "\(found)")
    }

    @Test func aMissingPlaceOrValueIsNotGuessed() throws {
        let torn = try points(kml("<when>a</when><when>b</when><gx:coord>4 52</gx:coord>"))
        #expect(torn.count == 2 && torn.allSatisfy { $0.problem?.contains("2 times and 1 places") == true })
        let list = try points(
            kml(
                "<when>a</when><when>b</when><gx:coord>4 52</gx:coord><gx:coord>5 52</gx:coord><ExtendedData><SchemaData>"
                    + "<gx:SimpleArrayData name=\"heading\"><gx:value>1</gx:value></gx:SimpleArrayData>"
                    + "<gx:SimpleArrayData name=\"fuel\"><gx:value>1</gx:value><gx:value>2</gx:value></gx:SimpleArrayData>"
                    + "</SchemaData></ExtendedData>"))
        #expect(list.count == 3 && list[0].problem?.contains("\"heading\" has 1 values") == true)
        #expect(list[2].attributes == ["fuel": "2"] && list[2].problem == nil)
    }

    @Test func aPlacemarkWithATimeIsAPoint() throws {
        let text = """
            <kml><Document><TimeStamp><when>2000-01-01T00:00:00Z</when></TimeStamp>
            <Placemark><TimeStamp><when>2026-03-05T08:20:12Z</when></TimeStamp><Point><altitudeMode>absolute</altitudeMode>
            <coordinates>4.25,52.5,7</coordinates></Point></Placemark>
            <Placemark><name>start</name><Point><coordinates>1,2</coordinates></Point></Placemark>
            <Placemark><LineString><coordinates>1,2 3,4</coordinates></LineString></Placemark></Document></kml>
            """
        let found = try points(text)
        try #require(found.count == 2)
        #expect(
            found[0].fields == [
                .time: "2026-03-05T08:20:12Z", .latitude: "52.5", .longitude: "4.25", .altitude: "7",
            ])
        #expect(found[1].fields == [.latitude: "2", .longitude: "1"])
        #expect(
            try notes(text) == ["1 of the type LineString is not read: it has no times, a gx:Track has"])
    }

    // MARK: GeoJSON

    private func line(_ type: String, _ coordinates: String, _ properties: String) -> String {
        #"{"type":"Feature","geometry":{"type":"\#(type)","coordinates":\#(coordinates)},"properties":{\#(properties)}}"#
    }

    @Test(arguments: [
        #""coordTimes":[[1,2],[3,4,5]]"#, #""times":[1,2,3,4,5]"#, #""coordinateProperties":{"times":[[1,2],[3,4,5]]}"#,
        #""coordinateProperties":{"timestamp":[1,2,3,4,5]}"#,
    ])
    func linesOfOneFeatureHaveTheirTimes(times: String) throws {
        let found = try points(line("MultiLineString", "[[[4,52],[5,52]],[[6,52],[7,52],[8,52,9]]]", times))
        #expect(found.map { $0.fields[.time] } == ["1", "2", "3", "4", "5"])
        #expect(found.map { $0.fields[.longitude] } == ["4.0", "5.0", "6.0", "7.0", "8.0"])
        #expect(found.allSatisfy { $0.problem == nil })
    }

    /// A list of each line says how far it goes: the first times of a short one belong to the first places.
    @Test(
        arguments: [
            ("[[1,2],[3,4]]", ["1", "2", "3", "4", nil]), ("[[1,2],[3]]", ["1", "2", "3", nil, nil]),
            ("[[1],[2,3,4]]", ["1", nil, "2", "3", "4"]), ("[[1,2],[]]", ["1", "2", nil, nil, nil]),
        ] as [(String, [String?])])
    func aShortListOfALineCostsTheRestOfItsLine(times: String, expected: [String?]) throws {
        for property in ["\"coordTimes\":\(times)", "\"coordinateProperties\":{\"timestamp\":\(times)}"] {
            let found = try points(line("MultiLineString", "[[[4,52],[5,52]],[[6,52],[7,52],[8,52]]]", property))
            #expect(found.map { $0.fields[.time] } == expected, "\(found)")
            #expect(found.map { $0.problem == nil } == expected.map { $0 != nil }, "\(found)")
            let reasons = found.compactMap(\.problem)
            #expect(
                reasons.allSatisfy { $0.contains("times, and there are") && $0.contains("of its line") }, "\(reasons)")
        }
    }

    /// A full list gives the times that a short one has not; what the feature says of itself is no time of a place.
    @Test func ofTwoListsOfTimesTheFullOneCounts() throws {
        let places = "[[4,52],[5,52],[6,52]]"
        let two = try points(
            line("LineString", places, #""coordTimes":[1,2],"coordinateProperties":{"times":[1,2,3]}"#))
        #expect(two.map { $0.fields[.time] } == ["1", "2", "3"] && two.allSatisfy { $0.problem == nil }, "\(two)")
        let one = try points(line("LineString", places, #""coordTimes":[1,2],"time":7"#))
        #expect(one.map { $0.fields[.time] } == ["1", "2", nil] && one[2].problem != nil, "\(one)")
        var long = try points(line("LineString", places, #""coordTimes":[1,2,3,4]"#))
        #expect(long.count == 3 && long.allSatisfy { $0.problem?.contains("which time belongs") == true }, "\(long)")
        let route = line("LineString", places, #""coordTimes":[1,2]"#)
        long = try TrackFileReader.route(ByteSource(bytes: Array(route.utf8)), limit: 9)
        #expect(long.count == 3)
    }

    @Test(arguments: [
        "[1,2,3]", "[[1],[2,3,4,5]]", "[[[1,2]],[3,4,5]]", "[[1,2],[3,4,5],[6]]", "[[1,2],3,4,5]", "[[1,2]]",
    ])
    func timesThatDoNotFitAreNotGuessed(times: String) throws {
        let found = try points(
            line("MultiLineString", "[[[4,52],[5,52]],[[6,52],[7,52],[8,52]]]", "\"coordTimes\":\(times)"))
        #expect(found.count == 5 && found.allSatisfy { $0.problem?.contains("which time belongs") == true }, "\(found)")
    }

    @Test func aListThatDoesNotFitIsToldAndThePointsStay() throws {
        let found = try points(
            line("LineString", "[[4,52],[5,52]]", #""coordTimes":[1,2],"coordinateProperties":{"fuel":[9]}"#))
        #expect(found.map { $0.problem == nil } == [false, true, true])
        #expect(found[0].problem?.contains("\"fuel\" has 1 values, and there are 2 places") == true)
    }

    @Test func aBadPlaceOfALineIsOnePoint() throws {
        let found = try points(
            line("LineString", #"[[4,52,NaN],["4","52"],[5],[null,52],[6,52,null]]"#, #""coordTimes":[1,2,3,4,5]"#))
        #expect(found.map { $0.problem == nil } == [true, false, false, false, true])
        #expect(found[0].fields[.altitude] == nil && found[4].fields[.time] == "5")
    }

    @Test func propertiesHaveTheNamesOfColumns() throws {
        let found = try points(
            line("Point", "[4,52]", #""time":"2026/03/05 08:20:12+00","ele":7,"heading":90,"course":80,"lat":1"#))
        #expect(found[0].fields[.altitude] == "7" && found[0].fields[.course] == "80")
        #expect(found[0].fields[.latitude] == "52.0" && found[0].attributes == ["heading": "90"])
    }

    @Test func whatIsNotReadIsTold() throws {
        let area = #"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#
        #expect(try points(area).isEmpty)
        #expect(try notes(area) == ["1 of the type Polygon is not read: points and lines are"])
        let deep =
            String(repeating: #"{"type":"GeometryCollection","geometries":["#, count: 9) + "]"
            + String(repeating: "}]", count: 8) + "}"
        #expect(problem(deep).contains("more than 8 inside each other"), "\(problem(deep))")
        let dutch =
            #"{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::28992"}},"features":[]}"#
        #expect(problem(dutch).contains("EPSG::28992") && problem(dutch).contains("ogr2ogr"))
        #expect(problem("{\n\"a\": ,}").contains("line 2"))
    }

    /// However many types a file has, and whatever has no place, all of it is counted.
    @Test func allThatHasNoPointIsCounted() throws {
        let types =
            (10..<40).map { #"{"type":"Type \#($0)","coordinates":[1,2]}"# } + [#"{"type":"Type 10","radius":5}"#]
        let found = try notes(#"{"type":"GeometryCollection","geometries":[\#(types.joined(separator: ","))]}"#)
        let counts = found.compactMap { Int($0.prefix(while: \.isNumber)) }
        #expect(counts.reduce(0, +) == 31 && found.count == 17, "\(found)")
        #expect(found.first == "2 of the type Type 10 are not read: points and lines are")
        #expect(found.last == "14 of other types are not read: points and lines are")
        let placeless = [
            #"{"type":"Feature","geometry":null,"properties":{}}"#, #"{"type":"Feature","properties":{}}"#,
            #"{"type":"Feature","geometry":{"type":"LineString","coordinates":[]},"properties":{}}"#,
            #"{"type":"Feature","geometry":{"type":"MultiPoint"},"properties":{}}"#,
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[4,52]},"properties":{}}"#,
        ]
        let collection = #"{"type":"FeatureCollection","features":[\#(placeless.joined(separator: ","))]}"#
        #expect(try notes(collection) == ["4 without coordinates are not read"])
        #expect(try points(collection).count == 1)
        #expect(try notes(placeless[0]) == ["1 without coordinates is not read"])
        let odd = [
            #"{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[]},"properties":{}}"#,
            #"{"type":"Feature","geometry":{"coordinates":[4,52]},"properties":{}}"#, "null", "[4,52]", placeless[4],
        ]
        let further = #"{"type":"FeatureCollection","features":[\#(odd.joined(separator: ","))]}"#
        #expect(try notes(further) == ["3 without coordinates are not read", "1 without a type is not read"])
        #expect(try points(further).count == 1)
    }

    // MARK: CSV

    @Test(arguments: [
        "time;lat;lon;alt;fuel\n1772698812;52,5;4,25;1,5;12,5",
        "time\tlat\tlon\talt\tfuel\n1772698812\t52,5\t4,25\t1,5\t12,5",
        "time,lat,lon,alt,fuel\n1772698812,\"52,5\",\"4,25\",\"1,5\",\"12,5\"",
        "time|lat|lon|alt|fuel\r1772698812|52.5|4.25|1.5|12.5\r",
        "\u{FEFF}sep=;\r\ntime;lat;lon;alt;fuel\r\n1772698812;52,5;4,25;1,5;12,5\r\n",
        "time,lat,lon,alt,fuel,\n1772698812,52.5,4.25,1.5,12.5,\n",
        ",time,lat,lon,alt,fuel\n0,1772698812,52.5,4.25,1.5,12.5",
    ])
    func oneTableInManyDialects(text: String) throws {
        let found = try points(text)
        #expect(found.count == 1)
        #expect(
            found[0].fields == [.time: "1772698812", .latitude: "52.5", .longitude: "4.25", .altitude: "1.5"],
            "\(found)")
        #expect(found[0].attributes == ["fuel": "12.5"] && found[0].problem == nil)
    }

    @Test func aBadRowIsOneRow() throws {
        let text = "time,lat,lon,note\n1,2,3,a\n1,2\n1,2,\"3\"4,b\n1,2,3,c,d\n1,2,3,e"
        let found = try points(text)
        #expect(found.map { $0.problem == nil } == [true, false, false, false, true])
        #expect(found.map(\.place) == ["line 2", "line 3", "line 4", "line 5", "line 6"])
        var bytes = Array("time,lat,lon,note\n1,2,3,".utf8) + [0xE9] + Array("\n4,5,6,x\n".utf8)
        var reader = try TrackFileReader(ByteSource(bytes: bytes))
        #expect(try reader.next()?.problem?.contains("UTF-8") == true)
        #expect(try reader.next()?.problem == nil)
        bytes = [0xFF, 0xFE, 0, 0, 0x74, 0, 0, 0]
        #expect(throws: TrackFileError.self) { try TrackFileReader(ByteSource(bytes: bytes)) }
        #expect(problem("PK\u{3}\u{4}abc").contains("unpack it"))
    }

    /// In a table with decimal commas a point may be either.
    @Test func aPointInATableWithCommasIsNotGuessed() throws {
        let found = try points("time;lat;lon;alt\n1;52,5;4,25;1.234\n1;52,5;4,25;1.234,5\n1;52.5;4.25;7\n1;52;4,25;7")
        #expect(found.map { $0.problem == nil } == [false, false, false, true])
        // And a comma in a table with points is no number, which whoever reads the text finds.
        #expect(try points("time;lat;lon;alt\n1;52.5;4.25;1,234").first?.fields[.altitude] == "1,234")
    }

    @Test func unitsOfColumnsAreObeyed() throws {
        let found = try points(
            "date time (UTC),latitude,longitude,speed (km/h),altitude[ft],accuracy(m),bearing(deg)\n2026-03-05 08:20:12,1,2,45,100,3,90"
        )
        #expect(
            found[0].fields == [
                .time: "2026-03-05 08:20:12 UTC", .latitude: "1", .longitude: "2", .speed: "12.5", .altitude: "30.48",
                .accuracy: "3", .course: "90",
            ], "\(found)")
        #expect(
            problem("time,lat,lon,speed (furlongs)\n").contains(
                "the unit of the column \"speed (furlongs)\" is not known"))
        #expect(problem("time (ms),lat,lon\n").contains("the unit"))
        #expect(try points("time,lat,lon,speed_kmh\n1,2,3,45").first?.attributes == ["speed_kmh": "45"])
    }

    @Test func dayAndTimeMayStandInTwoColumns() throws {
        // As GPSBabel's unicsv writes them.
        let found = try points(
            "No,Latitude,Longitude,Altitude,Speed,Course,Date,Time\n1,52.5,4.25,7,3.5,90,2026/03/05,08:20:12")
        #expect(found[0].fields[.time] == "2026/03/05 08:20:12" && found[0].attributes == ["No": "1"])
        let whole = try points("date,time,lat,lon\nThursday,2026-03-05T08:20:12Z,1,2")
        #expect(whole[0].fields[.time] == "2026-03-05T08:20:12Z" && whole[0].attributes == ["date": "Thursday"])
    }

    @Test func ofTwoNamesTheUsualOneCounts() throws {
        let found = try points("time,lat,lon,heading,course,elevation,ele\n1,2,3,90,80,7,8")
        #expect(found[0].fields[.course] == "80" && found[0].fields[.altitude] == "8")
        #expect(found[0].attributes == ["heading": "90", "elevation": "7"])
        #expect(problem("time,timestamp,lat,lon\n").contains("two columns are named time"))
    }
}
