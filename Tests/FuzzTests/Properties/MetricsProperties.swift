import MetricsText

/// The listener of the metrics: what anybody may send to it, and what a label may hold.
enum MetricsProperties {
    /// First byte: the size of the pieces in which the rest arrives.
    @Sendable static func check(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let size = Int(reader.byte())
        var whole = MetricsRequest()
        let expected = whole.take(reader.rest)
        var pieced = MetricsRequest()
        var found: MetricsRequest.Answer?
        for piece in reader.pieces(of: size) {
            found = pieced.take(piece)
            if found != nil { break }
        }
        try require(found == expected, "the answer depends on how the bytes arrive")
        if expected == nil {
            try require(reader.rest.count <= MetricsRequest.maximumBytes, "a request without bound is read on")
        }
        if case .refused(let refusal) = expected {
            try require(!MetricsRequest.response(refusal).isEmpty, "a refusal without an answer")
        }
        let text = String(decoding: reader.rest, as: UTF8.self)
        try checkLabel(text)
        if let address = MetricsAddress(text) {
            try require(MetricsAddress("\(address)") == address, "an address changes on its way")
        }
    }

    /// Whatever a value holds, it stays one line between its quotation marks, and can be had back.
    private static func checkLabel(_ text: String) throws {
        var page = MetricsPage()
        page.add(Metric("x", .gauge, labels: ["l"], "X."), 1, text)
        let lines = page.text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        try require(lines.count == 4, "a label breaks its line")
        var value: [UInt8] = []
        var isEscaped = false
        var quotes = 0
        for byte in lines[2] {
            if isEscaped {
                value.append(byte == UInt8(ascii: "n") ? UInt8(ascii: "\n") : byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                quotes += 1
            } else if quotes == 1 {
                value.append(byte)
            }
        }
        try require(quotes == 2 && value.elementsEqual(text.utf8), "a label changes on its way")
    }
}
