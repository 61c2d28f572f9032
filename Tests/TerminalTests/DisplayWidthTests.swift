import Testing

@testable import Terminal

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
