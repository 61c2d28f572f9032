package import Geodesy

extension ByteWriter {
    mutating func text(_ text: String) {
        unsigned(UInt64(text.utf8.count))
        for byte in text.utf8 { self.byte(byte) }
    }

    /// The 64 bits of IEEE 754, the lowest byte first.
    private mutating func double(_ value: Double) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            byte(UInt8(truncatingIfNeeded: value.bitPattern >> shift))
        }
    }

    mutating func draft(_ draft: ShapeDraft) {
        byte(draft.datum.code)
        double(draft.buffer)
        switch draft.outline {
        case .circle(let centre, let radius):
            byte(1)
            place(centre)
            double(radius)
        case .polygon(let parts):
            byte(2)
            unsigned(UInt64(parts.count))
            for part in parts {
                unsigned(UInt64(part.count))
                for ring in part { line(ring) }
            }
        case .corridor(let vertices, let offset):
            byte(3)
            line(vertices)
            double(offset)
        case .point(let place):
            byte(4)
            self.place(place)
        }
    }

    private mutating func line(_ vertices: [Degrees]) {
        unsigned(UInt64(vertices.count))
        for vertex in vertices { place(vertex) }
    }

    private mutating func place(_ place: Degrees) {
        double(place.latitude)
        double(place.longitude)
    }
}

extension ByteReader {
    mutating func text() throws(FenceStateCodingError) -> String {
        let length = try count(each: 1)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        for _ in 0..<length { bytes.append(try byte()) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FenceStateCodingError(description: "a text is not UTF-8")
        }
        return text
    }

    private mutating func double() throws(FenceStateCodingError) -> Double {
        var bits: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bits |= UInt64(try byte()) << shift }
        return Double(bitPattern: bits)
    }

    mutating func draft() throws(FenceStateCodingError) -> ShapeDraft {
        let code = try byte()
        guard let datum = Datum.allCases.first(where: { $0.code == code }) else {
            throw FenceStateCodingError(description: "\(code) is no datum")
        }
        let buffer = try double()
        let kind = try byte()
        let outline: ShapeDraft.Outline
        switch kind {
        case 1: outline = .circle(centre: try place(), radius: try double())
        case 2:
            var parts: [[[Degrees]]] = []
            let partCount = try count(each: 1)
            for _ in 0..<partCount {
                var rings: [[Degrees]] = []
                let ringCount = try count(each: 1)
                for _ in 0..<ringCount { rings.append(try line()) }
                parts.append(rings)
            }
            outline = .polygon(parts)
        case 3: outline = .corridor(try line(), offset: try double())
        case 4: outline = .point(try place())
        default: throw FenceStateCodingError(description: "\(kind) is no kind of a shape")
        }
        return ShapeDraft(outline, datum: datum, buffer: buffer)
    }

    /// Passes over a draft. Appends where the vertices of each of its lines begin, and how many there are.
    mutating func passDraft(into lines: inout [FenceBytes.Line]) throws(FenceStateCodingError) {
        try pass(9)
        switch try byte() {
        case 1: try pass(24)
        case 2:
            for _ in 0..<(try count(each: 1)) {
                for _ in 0..<(try count(each: 1)) { try passLine(into: &lines) }
            }
        case 3:
            try passLine(into: &lines)
            try pass(8)
        default: try pass(16)
        }
    }

    private mutating func passLine(into lines: inout [FenceBytes.Line]) throws(FenceStateCodingError) {
        let length = try count(each: 16)
        lines.append((start: position, count: length))
        try pass(16 * length)
    }

    private mutating func line() throws(FenceStateCodingError) -> [Degrees] {
        let length = try count(each: 16)
        var vertices: [Degrees] = []
        vertices.reserveCapacity(length)
        for _ in 0..<length { vertices.append(try place()) }
        return vertices
    }

    private mutating func place() throws(FenceStateCodingError) -> Degrees {
        Degrees(latitude: try double(), longitude: try double())
    }
}

extension Datum {
    fileprivate var code: UInt8 {
        switch self {
        case .wgs84: 0
        case .gcj02: 1
        case .bd09: 2
        }
    }
}

extension ShapeDraft {
    /// As it stands in a stored fence: docs/formats/fences.md.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.draft(self)
        return writer.bytes
    }

    /// Not checked: ``shape()`` does.
    ///
    /// - Throws: ``FenceStateCodingError`` for bytes that no version of this program wrote.
    package init(encoded bytes: [UInt8]) throws(FenceStateCodingError) {
        var reader = ByteReader(bytes)
        self = try reader.draft()
        guard reader.remaining == 0 else {
            throw FenceStateCodingError(description: "\(reader.remaining) bytes follow a shape")
        }
    }
}
