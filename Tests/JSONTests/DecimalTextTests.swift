import JSON
import Testing

@Suite struct DecimalTextTests {
    @Test(arguments: [
        ("0", 0), ("-12", -12), ("+1.5", 1.5), (".5", 0.5), ("5.", 5), ("1e3", 1000), ("1.5E-3", 0.0015), ("007", 7),
    ])
    func aNumberIsRead(text: String, value: Double) {
        #expect(Double(decimal: text) == value)
    }

    /// Each of these is a number to `strtod`, to its end or to a byte before it.
    @Test(arguments: ["1\u{0}junk", "1\u{0}", "0x1p3", "inf", "nan", "infinity", "1e999", " 1", "1 ", "1,5"])
    func whatIsNoDecimalNumberToItsEndIsNone(text: String) {
        #expect(Double(decimal: text) == nil)
    }

    @Test(arguments: ["", "-", ".", "e5", "1e", "1-2", "--1"]) func fragmentsAreNone(text: String) {
        #expect(Double(decimal: text) == nil)
    }
}
