import Foundation
import ProgramTestKit
import Testing

@testable import TrackFiles

/// Files in other encodings than UTF-8, and files that break off. The bytes are made by Foundation.
@Suite struct TextEncodingTests {
    private static let gpx =
        #"<gpx><trk><trkseg><trkpt lat="52.5" lon="13.25"><time>2026-03-05T08:20:12Z</time>"#
        + #"<extensions><object_name>Łódź–Köln 😀 €</object_name></extensions></trkpt></trkseg></trk></gpx>"#
    private static let latin = gpx.replacing("Łódź–Köln 😀 €", with: "Straße–Köln €")

    private func points(_ bytes: some Sequence<UInt8>, _ asked: ByteSource.Asked = .nothing) throws -> [FilePoint] {
        let source = ByteSource(bytes: Array(bytes), encoding: asked)
        var (reader, found) = (try TrackFileReader(source), [FilePoint]())
        while let point = try reader.next() { found.append(point) }
        return found
    }

    private func bytes(_ text: String, _ encoding: String.Encoding) throws -> Data {
        try #require(text.data(using: encoding))
    }

    /// Each format, with a mark of the order of bytes and, as it can be known by its first character, without.
    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian], [true, false])
    func utf16IsReadInEachFormat(_ encoding: String.Encoding, _ isMarked: Bool) throws {
        let mark = isMarked ? "\u{FEFF}" : ""
        let table = "time,lat,lon,object_name\r\n1772698812,52.5,13.25,Łódź–Köln 😀 €\r\n"
        let json =
            #"{"type":"Feature","properties":{"time":"1772698812","object_name":"Łódź–Köln 😀 €"},"geometry":{"type":"Point","coordinates":[13.25,52.5]}}"#
        for text in [Self.gpx, #"<?xml version="1.0" encoding="UTF-16"?>"# + Self.gpx, table, json] {
            let found = try points(try bytes(mark + text, encoding))
            #expect(found.count == 1 && found[0].problem == nil)
            #expect(found[0].fields[.objectName] == "Łódź–Köln 😀 €" && found[0].fields[.latitude] == "52.5")
        }
    }

    @Test(arguments: ["iso-8859-1", "ISO-8859-1", "windows-1252", "Windows-1252", "latin1", "cp1252"])
    func aDeclaredEncodingIsRead(_ name: String) throws {
        for declaration in [
            #"<?xml version="1.0" encoding="\#(name)"?>"#, "<?xml version='1.0' encoding = '\(name)' ?>\n",
        ] {
            let found = try points(try bytes(declaration + Self.latin, .windowsCP1252))
            #expect(found.first?.fields[.objectName] == "Straße–Köln €", "\(found)")
        }
    }

    /// Characters of an encoding that is not read are not guessed; a file without such is the same in all of them.
    @Test(arguments: ["GB2312", "koi8-r", "Shift_JIS"])
    func aDeclaredEncodingThatIsNotReadIsRefused(_ name: String) throws {
        let declaration = #"<?xml version="1.0" encoding="\#(name)"?>"#
        let plain = Self.gpx.replacing("Łódź–Köln 😀 €", with: "Koeln")
        #expect(try points((declaration + plain).utf8).first?.fields[.objectName] == "Koeln")
        for text in [Self.gpx, Self.latin] {
            let error = #expect(throws: TrackFileError.self) { try points((declaration + text).utf8) }
            #expect(error?.description.contains("\"\(name)\"") == true, "\(String(describing: error))")
            #expect(error?.description.contains("iconv -f \(name)") == true)
            #expect(try points((declaration + text).utf8, .encoding(.utf8)).first?.problem == nil)
        }
    }

    @Test(arguments: ["x; rm -rf ~", "$(id)", "-o/etc/passwd", ""])
    func theNameOfAnEncodingIsPutIntoNoCommand(_ name: String) {
        let error = #expect(throws: TrackFileError.self) {
            try points((#"<?xml version="1.0" encoding="\#(name)"?>"# + Self.gpx).utf8)
        }
        #expect(error?.description.contains("convert it to UTF-8") == true, "\(String(describing: error))")
    }

    /// A declaration that cannot be true changes nothing.
    @Test func utf8ThatSaysUTF16IsReadAsItIs() throws {
        let found = try points((#"<?xml version="1.0" encoding="utf-16"?>"# + Self.gpx).utf8)
        #expect(found.first?.fields[.objectName] == "Łódź–Köln 😀 €")
    }

    @Test func aTableIsReadInTheEncodingThatIsNamed() throws {
        let table = "time;lat;lon;object_name\n1772698812;52,5;13,25;Straße–Köln €\n"
        let data = try bytes(table, .windowsCP1252)
        for name in ["windows-1252", "ISO-8859-1", "latin1"] {
            let found = try points(data, try #require(ByteSource.Asked(name: name)))
            #expect(found.first?.fields[.objectName] == "Straße–Köln €" && found.first?.problem == nil)
        }
        // Without the name its rows are left out, with the remedy.
        #expect(try points(data).first?.problem?.contains("--encoding") == true)
        // A mark says more than a person.
        let marked = try bytes("\u{FEFF}" + table, .utf16LittleEndian)
        #expect(try points(marked, .encoding(.windows1252)).first?.fields[.objectName] == "Straße–Köln €")
        #expect(try points(marked, .utf16).first?.fields[.objectName] == "Straße–Köln €")
        #expect(ByteSource.Asked(name: "ebcdic") == nil)
        #expect(throws: TrackFileError.self) { try points(data, .utf16) }
    }

    /// What is no character costs its row, and no other.
    @Test func aBrokenCharacterIsOneRow() throws {
        let halves: [UInt16] = [0xD83D, 0xDE00, 0xD83D]
        for unit in [halves[2], halves[1]] {
            var units = Array("\u{FEFF}time,lat,lon,n\n1,2,3,".utf16) + [unit] + Array("\n4,5,6,x\n".utf16)
            units += []
            let found = try points(units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
            #expect(found.map { $0.problem == nil } == [false, true])
            #expect(found[0].problem?.contains("UTF-16") == true)
        }
        let table = Array("time,lat,lon,n\n1,2,3,".utf8) + [0x81] + Array("\n4,5,6,x\n".utf8)
        #expect(try points(table, .encoding(.windows1252)).map { $0.problem == nil } == [false, true])
    }

    /// Longer than a piece of the file, with characters across the ends of pieces.
    @Test func aLongFileIsReadInPieces() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/long.csv"
        let rows = (0..<20_000).map { "\(1_772_698_812 + $0),52.5,13.25,😀ł\($0)" }
        let text = "\u{FEFF}time,lat,lon,note\n" + rows.joined(separator: "\n")
        for (encoding, shift) in [(String.Encoding.utf16LittleEndian, ""), (.utf16BigEndian, "a")] {
            try bytes(text.replacing("note", with: "note" + shift), encoding).write(to: URL(filePath: path))
            var reader = try TrackFileReader(path: path)
            var count = 0
            while let point = try reader.next() {
                #expect(point.attributes["note" + shift] == "😀ł\(count)" && point.problem == nil)
                count += 1
            }
            #expect(count == 20_000)
        }
    }

    // MARK: Files that break off

    private static let head = #"<gpx version="1.1"><trk><trkseg>"# + "\n"
    private static func place(_ number: Int) -> String {
        #"<trkpt lat="52.\#(number)" lon="4.25"><time>2026-03-05T08:20:1\#(number)Z</time></trkpt>"# + "\n"
    }

    /// Wherever a GPX file is cut, its complete points are read, and the line of the break is told.
    @Test func whatIsBeforeTheEndOfABrokenGPXIsRead() throws {
        let whole = Self.head + (0..<5).map(Self.place).joined() + "</trkseg></trk></gpx>\n"
        for length in 1..<whole.utf8.count - 1 {
            let text = String(whole.prefix(length))
            let complete = text.components(separatedBy: "</trkpt>").count - 1
            guard complete > 0 else {
                #expect(throws: TrackFileError.self) { try points(text.utf8) }
                continue
            }
            let found = try points(text.utf8)
            #expect(found.prefix(complete).allSatisfy { $0.problem == nil }, "\(length)")
            #expect(found.count == complete + 1, "\(length)")
            let line = text.components(separatedBy: "\n").count
            #expect(found.last?.place == "line \(line)" && found.last?.problem?.contains("broken here") == true)
        }
    }

    /// A file system that lost its power leaves zeros.
    @Test func zerosBehindThePointsAreABreak() throws {
        let found = try points(
            Array((Self.head + Self.place(1) + Self.place(2)).utf8) + [UInt8](repeating: 0, count: 4096))
        #expect(found.map { $0.problem == nil } == [true, true, false] && found.last?.place == "line 4")
    }

    /// Times and places may stand in turns, or all times first.
    @Test(arguments: [true, false]) func whatIsBeforeTheEndOfABrokenKMLIsRead(_ isInTurns: Bool) throws {
        let times = (0..<4).map { "<when>2026-03-05T08:20:1\($0)Z</when>\n" }
        let places = (0..<4).map { "<gx:coord>4.25 52.\($0) 7</gx:coord>\n" }
        let body = isInTurns ? zip(times, places).map { $0 + $1 }.joined() : times.joined() + places.joined()
        let whole = "<kml><Document><Placemark><gx:Track>\n" + body + "</gx:Track></Placemark></Document></kml>\n"
        for length in 1..<whole.utf8.count - 1 {
            let text = String(whole.prefix(length))
            let complete =
                min(
                    text.components(separatedBy: "</when>").count, text.components(separatedBy: "</gx:coord>").count)
                - 1
            guard complete > 0 else {
                #expect(throws: TrackFileError.self) { try points(text.utf8) }
                continue
            }
            let found = try points(text.utf8)
            #expect(found.count == complete + 1 && found.prefix(complete).allSatisfy { $0.problem == nil }, "\(length)")
            for (index, point) in found.prefix(complete).enumerated() {
                #expect(
                    point.fields[.time] == "2026-03-05T08:20:1\(index)Z" && point.fields[.latitude] == "52.\(index)")
            }
            #expect(found.last?.problem?.contains("broken here") == true, "\(length)")
        }
    }

    /// A time is missing, and nobody knows whose.
    @Test func aBrokenKMLPairsNoTimeWithAnotherPlace() throws {
        let (time, place) = ("<when>2026-03-05T08:20:12Z</when>", "<gx:coord>4.25 52.0 7</gx:coord>")
        let point =
            "<Placemark><TimeStamp>\(time)</TimeStamp><Point><coordinates>4.25,52</coordinates></Point></Placemark>"
        let track = "<Placemark><gx:Track>" + [time, place, place, time].joined()
        let found = try points(("<kml><Document>" + point + track).utf8)
        #expect(found.map { $0.problem == nil } == [true, false, false])
        #expect(throws: TrackFileError.self) { try points(("<kml><Document>" + track).utf8) }
    }

    @Test func aQuoteThatIsNotClosedCostsNoRowBeforeIt() throws {
        let rows = (0..<100).map { "\($0 + 1),2,3,x\n" }.joined()
        let found = try points(("time,lat,lon,note\n" + rows + "101,2,3,\"open\n102,2,3,y\n").utf8)
        #expect(found.count == 101 && found.prefix(100).allSatisfy { $0.problem == nil })
        #expect(found[100].place == "line 102" && found[100].problem?.contains("a quote is not closed") == true)
    }

    // MARK: Floors of other programs

    private func floor(_ inside: String) throws -> FilePoint? {
        try points(
            #"<gpx><trk><trkseg><trkpt lat="1" lon="2"><time>2026-03-05T08:20:12Z</time>\#(inside)</trkpt></trkseg></trk></gpx>"#
                .utf8
        ).first
    }

    @Test(arguments: [
        "<floor>2</floor>", "<extensions><floor>2</floor></extensions>",
        "<extensions><x:floor xmlns:x='a'> 2 </x:floor></extensions>",
        "<extensions><indoor><floor>2</floor><floor>2.0</floor></indoor></extensions>",
        "<extensions><saker:value key='floor'>2</saker:value></extensions>",
    ])
    func aFloorIsRead(_ inside: String) throws {
        let point = try floor(inside)
        #expect(point?.attributes["floor"] == "2" && point?.problem == nil)
    }

    @Test func twoFloorsAreAGuess() throws {
        let point = try floor("<extensions><floor>2</floor><b><floor>3</floor></b></extensions>")
        #expect(point?.problem?.contains("floor stands twice") == true)
        #expect(try floor("<extensions><floor></floor></extensions>")?.attributes["floor"] == nil)
    }
}
