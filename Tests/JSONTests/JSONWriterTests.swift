import Testing

@testable import JSON

@Suite struct JSONWriterTests {
    private func text(
        _ wholeDoubles: JSONWriter.WholeDoubles = .withoutPoint, _ body: (inout JSONWriter) -> Void
    ) -> String {
        var writer = JSONWriter(wholeDoubles: wholeDoubles)
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func membersKeepTheirOrderAndTextsAreEscaped() {
        let written = text { writer in
            writer.object { object in
                object.member("b", "\"\\\n\u{1}é成")
                object.array("a") { list in
                    list.null()
                    list.bool(true)
                    list.integer(-3)
                    list.array { _ in }
                }
                object.object("c") { $0.member("d", 1) }
            }
        }
        #expect(written == #"{"b":"\"\\\n\u0001é成","a":[null,true,-3,[]],"c":{"d":1}}"#)
    }

    @Test(arguments: [
        (1_164_012_346, 7, "116.4012346"), (-5, 1, "-0.5"), (60, 1, "6"), (0, 7, "0"), (1, 7, "0.0000001"),
        (Int64.min, 0, "-9223372036854775808"), (.max, 19, "0.9223372036854775807"),
    ])
    func decimalsAreExactAndPlain(units: Int64, digits: Int, expected: String) {
        #expect(text { $0.decimal(units, digits: digits) } == expected)
    }

    @Test(arguments: [(184.20004999, "184.2"), (-0.00001, "0"), (.infinity, "null"), (.nan, "null"), (1e300, "1e+300")])
    func roundedDoublesHaveAtMostSoManyDigits(value: Double, expected: String) {
        #expect(text { $0.rounded(value, digits: 4) } == expected)
    }

    @Test(arguments: [(3, "3.0", "3"), (0.5, "0.5", "0.5"), (-0.0, "-0.0", "0"), (1e16, "1e+16", "10000000000000000")])
    func aWholeDoubleHasItsPointUnlessAClientReadsIntegers(value: Double, kept: String, plain: String) {
        #expect(text(.withPoint) { $0.double(value) } == kept)
        #expect(text(.withoutPoint) { $0.double(value) } == plain)
        #expect(text(.withoutPoint) { $0.value(["a": .double(value)]) } == "{\"a\":\(plain)}")
    }

    @Test func whatAnotherWriterWroteGoesBetweenTheMembers() {
        var members = JSONWriter()
        let empty = members
        members.member("x", 1)
        members.member("y", 2)
        let written = text { writer in
            writer.object { object in
                object.append(empty)
                object.append(members)
                object.member("z", "3")
                object.append(empty)
                object.append(members)
            }
        }
        #expect(written == #"{"x":1,"y":2,"z":"3","x":1,"y":2}"#)
    }
}

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
