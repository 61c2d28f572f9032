package import Geodesy

/// The geometry of a feature in WGS 84: its parts, in their order.
package struct FeatureGeometry: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        case point(Degrees)
        case line([Degrees])
        /// Parts; each has a shell and then its holes. No ring repeats its first vertex at its end.
        case polygon([[[Degrees]]])

        package var vertexCount: Int {
            switch self {
            case .point: 1
            case .line(let line): line.count
            case .polygon(let parts): parts.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
            }
        }
    }

    package var parts: [Part]

    package init(_ parts: [Part]) {
        self.parts = parts
    }

    package var vertexCount: Int { parts.reduce(0) { $0 + $1.vertexCount } }

    /// Lines that go on where the one before ends become one line.
    static func joined(_ lines: [[Degrees]]) -> [Part] {
        var joined: [[Degrees]] = []
        for line in lines {
            if let last = joined.last?.last, last == line.first {
                joined[joined.count - 1] += line.dropFirst()
            } else {
                joined.append(line)
            }
        }
        return joined.map(Part.line)
    }

    /// A ring without the repetition of its first vertex.
    static func opened(_ ring: [Degrees]) -> [Degrees] {
        ring.count > 1 && ring.first == ring.last ? Array(ring.dropLast()) : ring
    }
}
