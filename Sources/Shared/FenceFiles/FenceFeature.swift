internal import FenceJSON
package import Geodesy
package import JSON
package import TrackFiles

/// One feature of a file, whatever the file's format.
package struct FenceFeature: Hashable, Sendable {
    /// From 1, in the order of the file.
    package let number: Int
    /// What the file calls it; nil when the file gives it no id.
    package var id: String?
    package var geometry: FeatureGeometry
    package var properties: [String: JSONValue]

    package init(number: Int, id: String? = nil, geometry: FeatureGeometry, properties: [String: JSONValue] = [:]) {
        self.number = number
        self.id = id
        self.geometry = geometry
        self.properties = properties
    }
}

/// A feature that cannot become a fence, and why. The other features of its file may.
package struct RefusedFeature: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1, in the order of the file.
    package let number: Int
    package let id: String?
    package let reason: String
    /// What the file says of it; nil when that could not be read.
    package var properties: [String: JSONValue]?
    /// Which file, when several are read as one.
    package var file: String?

    package init(number: Int, id: String? = nil, reason: String, properties: [String: JSONValue]? = nil) {
        self.number = number
        self.id = id
        self.reason = reason
        self.properties = properties
    }

    package var description: String {
        "\(file.map { "\($0), " } ?? "")feature \(number)\(id.map { " (\(FenceFileError.quoted($0)))" } ?? ""): \(reason)"
    }
}

/// What a file gives at a time.
package enum FileFeature: Hashable, Sendable {
    case feature(FenceFeature)
    case refused(RefusedFeature)
}

/// The features of a file, one after the other.
package protocol FeatureReader {
    /// Nil after the last.
    ///
    /// - Throws: ``FenceFileError`` for what is wrong with the whole of the file.
    mutating func next() throws(FenceFileError) -> FileFeature?
}

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

/// The features of a file of text, known by how it begins: GeoJSON, GPX or KML.
package struct FileFeatures: FeatureReader {
    private enum Format {
        case geoJSON(GeoJSONFeatures)
        case markup(MarkupFeatures)
    }

    private var format: Format

    /// - Throws: ``FenceFileError`` for a file that is none of these. A GeoPackage needs SQLite: ``GeoPackageFeatures``.
    package init(_ source: ByteSource, limits: FenceFileLimits = FenceFileLimits()) throws(FenceFileError) {
        let first: UInt8?
        do throws(TrackFileError) { first = try source.begin() } catch { throw FenceFileError(error) }
        switch first {
        case UInt8(ascii: "{"): format = .geoJSON(GeoJSONFeatures(source, limits: limits))
        case UInt8(ascii: "<"): format = .markup(MarkupFeatures(source, limits: limits))
        case UInt8(ascii: "P"): throw FenceFileError("it looks like an archive, such as KMZ: unpack it first")
        case nil: throw FenceFileError("it is empty")
        default: throw FenceFileError("neither GeoJSON (begins with {) nor GPX or KML (begin with <)")
        }
    }

    package mutating func next() throws(FenceFileError) -> FileFeature? {
        switch format {
        case .geoJSON(var reader):
            defer { format = .geoJSON(reader) }
            return try reader.next()
        case .markup(var reader):
            defer { format = .markup(reader) }
            return try reader.next()
        }
    }
}

/// What is wrong with a file, a clause or a text, and where. It names the value, the rule and what to do; the file's name is
/// for the caller to add.
package struct FenceFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    init(_ error: TrackFileError) {
        description = error.description
    }

    init(_ error: FenceJSONError) {
        description = error.description
    }

    /// A text from outside, short enough for a message.
    static func quoted(_ text: some StringProtocol) -> String { FenceJSONError.quoted(text) }
}

/// How much of a file is read. What is beyond them is refused, and costs no memory.
package struct FenceFileLimits: Hashable, Sendable {
    /// Features in a file.
    package var features = 200_000
    /// Bytes of the text or the binary form of one feature.
    package var featureBytes = 16 << 20
    /// Values of one feature in JSON. A place takes three, or four with its height.
    package var values = 600_000
    /// Vertices in all the features that are taken.
    package var vertices = 10_000_000
    /// Fences that a file makes.
    package var fences = 10_000_000

    package init() {}

    /// What an agent takes in, of a file in which there may be much more.
    package static let agent = {
        var limits = Self()
        (limits.fences, limits.vertices) = (10_000, 200_000)
        return limits
    }()
}
