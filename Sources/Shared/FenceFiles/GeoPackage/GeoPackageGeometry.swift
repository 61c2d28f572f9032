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
