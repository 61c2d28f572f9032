internal import Geodesy

/// The binary form of a geometry in a GeoPackage (OGC 12-128r18, clause 2.1.3): a header, and well-known binary.
package struct GeoPackageGeometry: Hashable, Sendable {
    /// The number of the geometry's reference system in the table `gpkg_spatial_ref_sys`.
    package let system: Int32
    /// Without parts when the geometry is empty.
    package let geometry: FeatureGeometry

    /// Any bytes may come.
    ///
    /// - Throws: ``FenceFileError`` that says what is wrong and at which byte.
    package init(_ bytes: [UInt8]) throws(FenceFileError) {
        guard bytes.count >= 8, bytes[0] == UInt8(ascii: "G"), bytes[1] == UInt8(ascii: "P") else {
            throw FenceFileError("the geometry is none of a GeoPackage: it does not begin with GP and six bytes more")
        }
        guard bytes[2] == 0 else {
            throw FenceFileError("the geometry has version \(bytes[2]) of the binary form: only version 0 is read")
        }
        let flags = bytes[3]
        guard flags & 0x20 == 0 else {
            throw FenceFileError("the geometry is of an extended kind: only points, lines and polygons are read")
        }
        let envelope: Int
        switch flags >> 1 & 7 {
        case 0: envelope = 0
        case 1: envelope = 32
        case 2, 3: envelope = 48
        case 4: envelope = 64
        case let kind: throw FenceFileError("the geometry has an envelope of the unknown kind \(kind)")
        }
        guard bytes.count >= 8 + envelope else {
            throw FenceFileError("the geometry ends in its envelope, at byte \(bytes.count): the file is damaged")
        }
        let number = bytes[4..<8]
        let ordered = flags & 1 == 1 ? Array(number.reversed()) : Array(number)
        system = Int32(truncatingIfNeeded: ordered.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        geometry = try WKBReader.geometry(bytes, from: 8 + envelope)
    }
}

/// Reads well-known binary (OGC 06-103r4; with heights and measures as in ISO 19125 and as in PostGIS). Any bytes may come.
struct WKBReader {
    private static let deepestCollection = 4

    private let bytes: [UInt8]
    private var index: Int

    init(_ bytes: [UInt8], from index: Int = 0) {
        self.bytes = bytes
        self.index = index
    }

    /// One geometry, behind which nothing follows. An empty one has no parts.
    static func geometry(_ bytes: [UInt8], from index: Int = 0) throws(FenceFileError) -> FeatureGeometry {
        var reader = WKBReader(bytes, from: index)
        var parts: [FeatureGeometry.Part] = []
        try reader.geometry(into: &parts, depth: 0, only: nil)
        guard reader.index == bytes.count else {
            throw FenceFileError("\(bytes.count - reader.index) bytes follow the geometry: the file is damaged")
        }
        return FeatureGeometry(parts)
    }

    private enum Kind: UInt32 {
        case point = 1
        case line, polygon, points, lines, polygons, collection

        var name: String {
            switch self {
            case .point: "Point"
            case .line: "LineString"
            case .polygon: "Polygon"
            case .points: "MultiPoint"
            case .lines: "MultiLineString"
            case .polygons: "MultiPolygon"
            case .collection: "GeometryCollection"
            }
        }
    }

    /// What stands before the numbers of each geometry.
    private struct Header {
        let isLittle: Bool
        let kind: Kind
        /// Numbers of a position: longitude, latitude, and what is passed over.
        let dimensions: Int
    }

    private mutating func header(only wanted: Kind?) throws(FenceFileError) -> Header {
        let start = index
        let order = try byte()
        guard order < 2 else { throw FenceFileError("byte \(start) of the geometry, \(order), is no byte order") }
        let code = try number(isLittle: order == 1)
        // PostGIS has flags above; ISO has thousands.
        guard code & 0x2000_0000 == 0 else {
            throw FenceFileError(
                "the geometry at byte \(start) names a system of its own: convert the file with ogr2ogr")
        }
        let plain = code & 0x1FFF_FFFF
        guard plain < 4000, let kind = Kind(rawValue: plain % 1000) else {
            throw FenceFileError(
                "the geometry at byte \(start) is of kind \(plain), such as a curve: only points, lines and polygons are read"
            )
        }
        let hasHeight = code & 0x8000_0000 != 0 || plain / 1000 == 1 || plain / 1000 == 3
        let hasMeasure = code & 0x4000_0000 != 0 || plain / 1000 >= 2
        if let wanted, wanted != kind {
            throw FenceFileError("the geometry at byte \(start) is a \(kind.name), and a \(wanted.name) is expected")
        }
        return Header(isLittle: order == 1, kind: kind, dimensions: 2 + (hasHeight ? 1 : 0) + (hasMeasure ? 1 : 0))
    }

    private mutating func geometry(
        into parts: inout [FeatureGeometry.Part], depth: Int, only wanted: Kind?
    ) throws(FenceFileError) {
        let header = try header(only: wanted)
        switch header.kind {
        case .point:
            let place = try position(header)
            // An empty point is written as numbers that are none.
            if !place.latitude.isNaN || !place.longitude.isNaN { parts.append(.point(place)) }
        case .line:
            let line = try line(header)
            if !line.isEmpty { parts.append(.line(line)) }
        case .polygon:
            let rings = try rings(header)
            if !rings.isEmpty { parts.append(.polygon([rings])) }
        case .points: try several(header, of: .point, into: &parts, depth)
        case .lines:
            var members: [FeatureGeometry.Part] = []
            try several(header, of: .line, into: &members, depth)
            parts += FeatureGeometry.joined(
                members.compactMap { (part) -> [Degrees]? in
                    if case .line(let line) = part { line } else { nil }
                })
        case .polygons:
            var members: [FeatureGeometry.Part] = []
            try several(header, of: .polygon, into: &members, depth)
            let polygons = members.flatMap { (part) -> [[[Degrees]]] in
                if case .polygon(let polygons) = part { polygons } else { [] }
            }
            if !polygons.isEmpty { parts.append(.polygon(polygons)) }
        case .collection:
            guard depth < Self.deepestCollection else {
                throw FenceFileError("collections are nested more than \(Self.deepestCollection) levels deep")
            }
            try several(header, of: nil, into: &parts, depth + 1)
        }
    }

    private mutating func several(
        _ header: Header, of kind: Kind?, into parts: inout [FeatureGeometry.Part], _ depth: Int
    ) throws(FenceFileError) {
        // A member has at least its own header and a count, or two numbers.
        for _ in 0..<(try count(header, each: 9)) { try geometry(into: &parts, depth: depth, only: kind) }
    }

    private mutating func rings(_ header: Header) throws(FenceFileError) -> [[Degrees]] {
        var rings: [[Degrees]] = []
        for _ in 0..<(try count(header, each: 4)) { rings.append(FeatureGeometry.opened(try line(header))) }
        return rings
    }

    private mutating func line(_ header: Header) throws(FenceFileError) -> [Degrees] {
        let count = try count(header, each: 8 * header.dimensions)
        var line: [Degrees] = []
        line.reserveCapacity(count)
        for _ in 0..<count { line.append(try position(header)) }
        return line
    }

    private mutating func position(_ header: Header) throws(FenceFileError) -> Degrees {
        let longitude = try double(isLittle: header.isLittle)
        let latitude = try double(isLittle: header.isLittle)
        for _ in 2..<header.dimensions { _ = try double(isLittle: header.isLittle) }
        return Degrees(latitude: latitude, longitude: longitude)
    }

    // MARK: Numbers

    private mutating func byte() throws(FenceFileError) -> UInt8 {
        guard index < bytes.count else {
            throw FenceFileError("the geometry ends at byte \(index): the file is damaged")
        }
        defer { index += 1 }
        return bytes[index]
    }

    private mutating func number(isLittle: Bool) throws(FenceFileError) -> UInt32 {
        UInt32(truncatingIfNeeded: try bits(4, isLittle: isLittle))
    }

    private mutating func double(isLittle: Bool) throws(FenceFileError) -> Double {
        Double(bitPattern: try bits(8, isLittle: isLittle))
    }

    private mutating func bits(_ count: Int, isLittle: Bool) throws(FenceFileError) -> UInt64 {
        guard bytes.count - index >= count else {
            throw FenceFileError("the geometry ends at byte \(bytes.count): the file is damaged")
        }
        defer { index += count }
        var bits: UInt64 = 0
        for offset in 0..<count {
            bits = bits << 8 | UInt64(bytes[isLittle ? index + count - 1 - offset : index + offset])
        }
        return bits
    }

    /// A count of things of which each takes at least so many bytes: memory is taken for what is there, not for what is said.
    private mutating func count(_ header: Header, each least: Int) throws(FenceFileError) -> Int {
        let start = index
        let count = try number(isLittle: header.isLittle)
        guard UInt64(count) * UInt64(least) <= UInt64(bytes.count - index) else {
            throw FenceFileError("\(count) entries at byte \(start) of the geometry do not fit: the file is damaged")
        }
        return Int(count)
    }
}
