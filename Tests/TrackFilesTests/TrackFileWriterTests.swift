import JSON
import ProgramTestKit
import Testing

@testable import TrackFiles

/// What is written is read again.
@Suite struct TrackFileWriterTests {
    private static let first = WrittenPoint(
        time: 1_772_670_012_000, latitude: 51.9954525, longitude: -0.0000001, altitude: -3.5, speed: 12.34, course: 0,
        accuracy: 6, objectName: "A & <B> \"c\"",
        attributes: ["fuel": .integer(51), "level": .double(0.25), "note": .string("x,\n\"y\"; ü")])
    private static let track = [
        first, WrittenPoint(time: 1_772_670_022_500, latitude: -90, longitude: 180),
        // After an interruption, with an attribute that no earlier point has.
        WrittenPoint(
            time: 1_772_670_322_500, latitude: 0, longitude: 0, speed: 0, attributes: ["door": .integer(1)]),
    ]

    private func file(_ format: TrackFileWriter.Format, _ points: [WrittenPoint]) -> String {
        var writer = TrackFileWriter(format, name: "van <07>")
        return points.reduce(writer.begin()) { $0 + writer.add($1) } + writer.end()
    }

    private func table(_ points: [WrittenPoint], pieces: Int = 7) -> String {
        var writer = CSVTrackWriter()
        let spool = points.flatMap { writer.add($0) }
        var text = Array(writer.head.utf8)
        var rest = spool[...]
        while !rest.isEmpty {
            text += writer.filled(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func read(_ text: String) throws -> [FilePoint] {
        var reader = try TrackFileReader(ByteSource(bytes: Array(text.utf8)))
        var points: [FilePoint] = []
        while let point = try reader.next() { points.append(point) }
        return points
    }

    /// The numbers and texts of both are the same.
    private func expect(_ found: [FilePoint], _ written: [WrittenPoint], _ what: String) {
        #expect(found.count == written.count, "\(what)")
        for (found, written) in zip(found, written) {
            #expect(found.fields[.time] == FileText.time(written.time), "\(what)")
            let numbers: [(FilePoint.Field, Double?)] = [
                (.latitude, written.latitude), (.longitude, written.longitude), (.altitude, written.altitude),
                (.speed, written.speed), (.course, written.course), (.accuracy, written.accuracy),
            ]
            for (field, number) in numbers {
                #expect(found.fields[field].flatMap { Double(decimal: $0) } == number, "\(what) \(field)")
            }
            #expect(found.fields[.objectName] == written.objectName, "\(what)")
            #expect(found.attributes == written.attributes.mapValues(FileText.plain), "\(what)")
        }
    }

    @Test(arguments: TrackFileWriter.Format.allCases) func aTrackComesBack(_ format: TrackFileWriter.Format) throws {
        expect(try read(file(format, Self.track)), Self.track, format.rawValue)
        #expect(try read(file(format, [])).isEmpty)
        expect(try read(file(format, [Self.first])), [Self.first], format.rawValue)
    }

    @Test func aTableComesBack() throws {
        for pieces in [1, 7, 10_000] { expect(try read(table(Self.track, pieces: pieces)), Self.track, "\(pieces)") }
        #expect(
            table(Self.track).hasPrefix(
                "time,latitude,longitude,speed,course,altitude,accuracy,object_name,fuel,level,note,door\n"
                    + "2026-03-05T00:20:12Z,51.9954525,-0.0000001,12.34,0,-3.5,6,\"A & <B> \"\"c\"\"\",51,0.25,"))
        #expect(table([]) == "time,latitude,longitude,speed,course,altitude,accuracy,object_name\n")
    }

    @Test func anyTrackComesBackFromEveryFormat() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix(state: seed)
        var time: Int64 = 1_700_000_000_000
        let points = (0..<12_000).map { _ in
            time += Int64(random.next() % 40) == 0 ? 300_000 : Int64(1000 + random.next() % 5000)
            func number(_ limit: Int64, _ scale: Double) -> Double {
                Double(Int64(random.next() % UInt64(2 * limit + 1)) - limit) / scale
            }
            return WrittenPoint(
                time: time, latitude: number(900_000_000, 1e7), longitude: number(1_800_000_000, 1e7),
                altitude: random.next() % 2 == 0 ? number(90_000, 10) : nil,
                speed: random.next() % 3 == 0 ? nil : Double(random.next() % 10_000) / 100,
                attributes: random.next() % 5 == 0 ? ["n\(random.next() % 3)": .integer(number(9, 1) > 0 ? 1 : 2)] : [:]
            )
        }
        for format in [TrackFileWriter.Format.gpx, .kml] {
            expect(try read(file(format, points)), points, "\(format), seed \(seed)")
        }
        expect(try read(file(.geojson, Array(points.prefix(6000)))), Array(points.prefix(6000)), "seed \(seed)")
        expect(try read(table(points, pieces: 4096)), points, "csv, seed \(seed)")
    }

    @Test func nothingButTheStretchIsHeld() {
        var writer = TrackFileWriter(.geojson, name: "n")
        var longest = 0
        for second in 0..<20_000 {
            let text = writer.add(
                WrittenPoint(time: Int64(second) * 1000, latitude: 1, longitude: Double(second) / 1000))
            longest = max(longest, text.utf8.count)
        }
        #expect(longest > 0 && longest < 600_000, "\(longest)")
        #expect(writer.end().utf8.count < 600_000)
    }

    @Test func interruptionsAreNotConnected() throws {
        #expect(file(.gpx, Self.track).components(of: "<trkseg>") == 2)
        #expect(file(.kml, Self.track).components(of: "<gx:Track>") == 2)
        #expect(file(.geojson, Self.track).components(of: "\"Feature\"") == 2)
    }

    @Test func formatsAreWhatTheirReadersExpect() throws {
        let gpx = file(.gpx, Self.track)
        #expect(gpx.contains("<gpx version=\"1.1\"") && gpx.contains("<trk><name>van &lt;07&gt;</name>"))
        #expect(
            gpx.contains(
                "<trkpt lat=\"51.9954525\" lon=\"-0.0000001\"><ele>-3.5</ele><time>2026-03-05T00:20:12Z</time>"))
        #expect(gpx.contains("<gpxtpx:speed>12.34</gpxtpx:speed><gpxtpx:course>0</gpxtpx:course>"))
        let kml = file(.kml, Self.track)
        #expect(kml.contains("<when>2026-03-05T00:20:12Z</when>\n<when>2026-03-05T00:20:22.500Z</when>\n<gx:coord>"))
        let json = try JSONReader.value(of: Array(file(.geojson, Self.track).utf8))
        let feature = try #require(json["features"]?.arrayValue?.first)
        #expect(feature["geometry"]?["type"] == "LineString")
        #expect(feature["properties"]?["coordTimes"]?.arrayValue?.count == 2)
        #expect(feature["properties"]?["coordinateProperties"]?["fuel"] == [51, .null])
    }

    @Test(arguments: [
        ("<kml><Track>", "ends within an element"), ("<kml></Track></kml>", "ends what has not begun"),
        ("<kml>" + String(repeating: "<a>", count: 70), "64 deep"),
    ]) func aBadTrackOfKMLIsExplained(text: String, reason: String) {
        do {
            _ = try read(text)
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains(reason), "\(error)")
        }
    }

    @Test func timesAndNumbersAreExact() {
        #expect(FileText.time(0) == "1970-01-01T00:00:00Z")
        #expect(FileText.time(-1) == "1969-12-31T23:59:59.999Z")
        #expect(FileText.time(951_782_400_000) == "2000-02-29T00:00:00Z")
        #expect(FileText.time(4_107_542_399_000) == "2100-02-28T23:59:59Z")
        #expect(FileText.decimal(0.1 + 0.2, 3) == "0.3" && FileText.decimal(-0.0004, 3) == "0")
        #expect(FileText.decimal(1e300, 3) == "0" && FileText.decimal(.nan, 3) == "0")
        #expect(FileText.degrees(-179.9999999) == "-179.9999999")
        #expect(FileText.xml("a\u{0}<&>\"\u{FFFE}\n") == "a?&lt;&amp;&gt;&quot;?&#10;")
    }

    private struct SplitMix: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
    }
}

extension String {
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}

/// Texts that a spreadsheet would compute.
@Suite struct CSVTextTests {
    private static let computed = [
        "=HYPERLINK(\"http://evil\",\"x\")", "@SUM(1)", "+1+cmd|' /C calc'!A0", "-2+3", "\tx", "\rx", "\nx", "'=1",
        "''@x", "\u{FF1D}1", "+", "-",
    ]
    private static let harmless = ["", "van", "-5", "+5", "-5.25", "1=2", "'", "'van", "a@b", " =1"]

    @Test func whatIsComputedGetsAnApostropheAndComesBack() {
        for text in Self.computed {
            #expect(CSVText.guarded(text) == "'" + text)
            #expect(CSVText.unguarded(CSVText.guarded(text)) == text)
        }
        for text in Self.harmless {
            #expect(CSVText.guarded(text) == text)
            #expect(CSVText.unguarded(text) == text)
        }
    }

    /// Where `;` or a tab separates cells, quotes in the middle of a line are none, and a line break ends it.
    @Test(arguments: [
        ("a;=1", "a;'=1"), ("a; =1", "a;' =1"), ("a;\"=1\"", "a;'\"=1\""), ("a\t@x", "a\t'@x"),
        ("a\n-x;+y", "a\n'-x;'+y"),
        ("a\r\n=1", "a\r\n'=1"), ("\t=1", "'\t'=1"), ("=1;=2", "'=1;'=2"), ("a;'=1", "a;''=1"), (";=1;", ";'=1;"),
        ("';=1", "';'=1"),
        ("a;'\"=1", "a;''\"=1"), ("a;b;1;-5;'", "a;b;1;-5;'"), ("a,=1", "a,=1"), ("';'", "';'"),
    ])
    func noSeparatorBeginsAComputedCell(text: String, cell: String) {
        #expect(CSVText.guarded(text) == cell)
        #expect(CSVText.unguarded(cell) == text)
    }

    @Test func everyTextComesBack() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let text = String((0..<8).map { _ in "';=\"+ \t\n1a".randomElement(using: &random) ?? "a" })
            #expect(CSVText.unguarded(CSVText.guarded(text)) == text, "\(text.debugDescription)")
        }
    }

    private func table(isForPeople: Bool) throws -> String {
        var writer = CSVTrackWriter(isForPeople: isForPeople)
        var point = WrittenPoint(time: 1_700_000_000_000, latitude: -40, longitude: 116)
        point.objectName = "=1+1"
        point.attributes = ["note": "@SUM(1)", "load": -5, "=key": "x"]
        let spool = writer.add(point)
        return writer.head + String(decoding: writer.filled(spool), as: UTF8.self)
    }

    @Test func tablesForPeopleComputeNothingAndThoseForProgramsAreExact() throws {
        let people = try table(isForPeople: true)
        for text in ["'=1+1", "'@SUM(1)", "'=key", "-40"] { #expect(people.contains(text), "\(people)") }
        #expect(!people.contains("'-"))
        let programs = try table(isForPeople: false)
        #expect(programs.contains(",=1+1,") && programs.contains("@SUM(1)") && !programs.contains("'"))
    }
}
