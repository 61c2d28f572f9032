extension Double {
    /// The decimal number that the whole text is, such as `-12`, `.5` or `1.5e3`; nil for every other text and for a number
    /// beyond a double.
    ///
    /// `Double.init` alone reads text as C does: to the first NUL, in hexadecimal too, and words such as `inf`.
    package init?(decimal text: some StringProtocol) {
        let isDecimal = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
        guard isDecimal, let value = Double(text), value.isFinite else { return nil }
        self = value
    }
}
