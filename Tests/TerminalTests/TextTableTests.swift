import Testing

@testable import Terminal

@Suite struct TextTableTests {
    @Test func columnsStandUnderEachOtherWhateverTheScript() {
        var table = TextTable([.text("ENTITY"), .number("POINTS"), "NOTE"])
        table.add("货车07", "5", "a")
        table.add("van", "1,234", "")
        #expect(table.lines(width: nil) == ["ENTITY  POINTS  NOTE", "货车07       5  a", "van      1,234"])
    }

    @Test func aTableThatFitsIsTheSameEverywhere() {
        var table = TextTable([.text("ENTITY"), .number("POINTS", rank: 1), .text("NOTE", rank: 2)])
        table.add("van_07", "5", "the first one of the yard")
        #expect(table.lines(width: 80) == table.lines(width: nil))
    }

    @Test func aTextGoesOnBelowItselfBeforeAColumnIsLeftOut() {
        var table = TextTable([.text("ENTITY"), .number("POINTS", rank: 1), .text("TROUBLE")])
        table.add("van_07", "5", "lost 3 points: its cache was full; no fix since 12 min")
        #expect(
            table.lines(width: 45) == [
                "ENTITY  POINTS  TROUBLE", "van_07       5  lost 3 points: its cache was",
                "                full; no fix since 12 min",
            ])
    }

    @Test func columnsOfTheHighestRankAreLeftOutAndNamed() {
        var table = TextTable([
            "DEVICE", TextTable.Column("UNTIL", rank: 2), TextTable.Column("SEEN", rank: 1), "STATE",
        ])
        table.add("12345678", "2027-03-01T12:00:00Z", "2027-03-01T12:00:00Z", "approved")
        #expect(
            table.lines(width: 44) == [
                "DEVICE    SEEN                  STATE", "12345678  2027-03-01T12:00:00Z  approved", "",
                "Not shown here: UNTIL. To see all: --wide",
            ])
        #expect(table.lines(width: 62)[0] == "DEVICE    UNTIL                 SEEN                  STATE")
    }

    @Test func aWordThatIsTooLongHasALineOfItsOwnAndIsWhole() {
        var table = TextTable([.text("ENTITY"), "STATE", .text("NOTE")])
        let name = String(repeating: "van", count: 12)
        table.add(name, "offline", "a b c d e f g")
        table.add("van_07", "online", "")
        let lines = table.lines(width: 50)
        #expect(lines[1] == name)
        #expect(lines[2].drop { $0 == " " } == "offline  a b c d e f g")
        #expect(lines[3].hasPrefix("van_07 ") && lines[3].hasSuffix("  online"))
    }

    @Test func aTextForProgramsIsCutWhereThereIsNoRoom() {
        var table = TextTable(["STATE", .beginning("BODY")])
        table.add("waiting", String(repeating: "x", count: 50))
        table.add("done", "{}")
        #expect(
            table.lines(width: 40) == [
                "STATE    BODY", "waiting  " + String(repeating: "x", count: 30) + "…", "done     {}", "",
                "Cut here: BODY. To see all: --wide",
            ])
        #expect(table.lines(width: 59) == table.lines(width: nil))
        table.add("new", String(repeating: "车", count: 40))
        #expect(table.lines(width: 40).allSatisfy { DisplayWidth.columns($0) <= 40 })
    }

    @Test func aNameCannotControlTheTerminal() {
        var table = TextTable.pairs
        table.add("Entity", "van\u{1B}[2J\u{202E}")
        #expect(table.lines(width: nil) == ["Entity  van?[2J?"])
    }

    /// For any table and width: every word is there, whole and in the order of its cell; no line of a table whose words are
    /// short is wider than the terminal; and a column is left out only where a sentence names it.
    @Test func anyTableFitsAndLosesNothing() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = Xorshift(state: seed | 1)
        for round in 0..<2000 {
            let count = Int.random(in: 1...4, using: &generator)
            var number = 0
            let columns = (0..<count).map { index in
                TextTable.Column(
                    "T\(index)", Bool.random(using: &generator) ? .leading : .trailing,
                    rank: Int.random(in: 0...3, using: &generator), folds: Bool.random(using: &generator))
            }
            let rows = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                columns.map { column -> [String] in
                    let words = column.folds ? Int.random(in: 0...9, using: &generator) : 1
                    return (0..<words).map { _ in
                        number += 1
                        return "w\(number)" + String(repeating: "x", count: Int.random(in: 0...4, using: &generator))
                    }
                }
            }
            var table = TextTable(columns)
            for row in rows { table.add(row.map { $0.joined(separator: " ") }) }
            let width = Int.random(in: 40...120, using: &generator)
            let lines = table.lines(width: width)
            let said = lines.last.map { $0.hasPrefix("Not shown") || $0.contains("--wide") } == true
            let leftOut = said ? lines.drop { !$0.hasPrefix("Not shown") }.joined(separator: " ") : ""
            let body = said ? lines.prefix { !$0.hasPrefix("Not shown") } : lines[...]
            let comment: Comment = "seed \(seed), round \(round), width \(width)"
            #expect(body.allSatisfy { DisplayWidth.columns($0) <= width }, comment)
            #expect(body.allSatisfy { $0.last != " " }, comment)
            let shown = columns.indices.filter { !leftOut.contains("T\($0)") }
            #expect(
                shown.count == count || columns.indices.allSatisfy { shown.contains($0) || columns[$0].rank > 0 },
                comment)
            let words = body.dropFirst().flatMap { $0.split(separator: " ").map(String.init) }.sorted()
            #expect(words == rows.flatMap { row in shown.flatMap { row[$0] } }.sorted(), comment)
        }
    }

    @Test func textsAreFoldedBetweenWords() {
        #expect(TextFold.lines("one two three", width: 7) == ["one two", "three"])
        #expect(TextFold.lines("one", width: 2) == ["one"])
        #expect(TextFold.lines("a bcdefghij k", width: 4) == ["a", "bcdefghij", "k"])
        #expect(TextFold.lines("anything at all", width: nil) == ["anything at all"])
        #expect(TextFold.lines("one two three", width: 12, after: "ok   ") == ["ok   one two", "     three"])
    }

    @Test(arguments: [
        ("it took 12 min 3 s there", 11, ["it took", "12 min 3 s", "there"]),
        ("since 2026-03-05 08:20:12+01:00 here", 27, ["since", "2026-03-05 08:20:12+01:00", "here"]),
        ("now (75 %) full", 7, ["now", "(75 %)", "full"]), ("±3.5 m off", 8, ["±3.5 m", "off"]),
        ("see 5 points", 6, ["see 5", "points"]),
    ])
    func aNumberStaysWithItsUnit(text: String, width: Int, lines: [String]) {
        #expect(TextFold.lines(text, width: width) == lines)
    }
}

/// Random numbers that a seed repeats.
private struct Xorshift: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("van", 3), ("", 0), ("货车07", 6), ("한국", 4), ("ｱｲ", 2), ("Ａ", 2), ("é", 1), ("e\u{301}", 1), ("🚗", 2), ("●", 1),
        ("°", 1),
        ("☀️", 2), ("、", 2),
    ])
    func aTextTakesTheColumnsThatATerminalGivesIt(text: String, columns: Int) {
        #expect(DisplayWidth.columns(text) == columns)
    }
}
