import JSON
import Testing

@testable import TrackFiles

/// Texts that a spreadsheet would compute.
@Suite struct CSVTextTests {
    private static let computed = [
        "=HYPERLINK(\"http://evil\",\"x\")", "@SUM(1)", "+1+cmd|' /C calc'!A0", "-2+3", "\t=1", "\r=1", "\n=1", "'=1",
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
