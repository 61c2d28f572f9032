extension JSONReader {
    /// The members of the object that `bytes` hold, in their order, repeated names included, for a caller that takes
    /// every parameter as text. Nil when the value is not an object.
    ///
    /// A string is its text, null is nil. Any other value is its JSON: as it came, without white space, with its numbers
    /// and escapes as ``JSONWriter`` writes them.
    package static func texts(
        of bytes: [UInt8], _ rules: JSONRules = JSONRules(), wholeDoubles: JSONWriter.WholeDoubles
    ) throws(JSONError) -> [(name: String, text: String?)]? {
        var reader = try JSONReader(bytes, rules)
        reader.skipSpace()
        guard reader.next == UInt8(ascii: "{") else {
            _ = try reader.value()
            try reader.end()
            return nil
        }
        try reader.count()
        try reader.enter()
        var texts: [(name: String, text: String?)] = []
        if reader.next != UInt8(ascii: "}") {
            repeat {
                let name = try reader.name()
                texts.append((name, try reader.text(wholeDoubles)))
                reader.skipSpace()
            } while reader.take(UInt8(ascii: ","))
        }
        try reader.close("}")
        try reader.end()
        return texts
    }

    private mutating func text(_ wholeDoubles: JSONWriter.WholeDoubles) throws(JSONError) -> String? {
        skipSpace()
        switch next {
        case UInt8(ascii: "\""):
            try count()
            return try string()
        case UInt8(ascii: "n"):
            _ = try value()
            return nil
        default:
            var writer = JSONWriter(wholeDoubles: wholeDoubles)
            try copy(to: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }

    /// Writes the next value as it is read: no tree of values loses the order of its members.
    private mutating func copy(to writer: inout JSONWriter) throws(JSONError) {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"):
            try count()
            try enter()
            try writer.object { (writer: inout JSONWriter) throws(JSONError) in
                guard next != UInt8(ascii: "}") else { return }
                repeat {
                    writer.name(try name())
                    try copy(to: &writer)
                    skipSpace()
                } while take(UInt8(ascii: ","))
            }
            try close("}")
        case UInt8(ascii: "["):
            try count()
            try enter()
            try writer.array { (writer: inout JSONWriter) throws(JSONError) in
                guard next != UInt8(ascii: "]") else { return }
                repeat {
                    try copy(to: &writer)
                    skipSpace()
                } while take(UInt8(ascii: ","))
            }
            try close("]")
        default: writer.value(try value())
        }
    }
}
