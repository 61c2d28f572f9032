internal import Geodesy
internal import TrackModel

// The format: docs/formats/fences.md. Numbers are given back as they were given: the datum's, in 64 bits.
extension Fence {
    private static let version: UInt8 = 1

    /// Some 40 bytes, 16 for each vertex, and the texts.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.version)
        writer.signed(Int64(revision))
        writer.signed(Int64(areaRevision))
        writer.signed(created.milliseconds)
        writer.signed(modified.milliseconds)
        writer.signed(revisedAt.milliseconds)
        writer.definition(definition)
        return writer.bytes
    }

    /// The fence with this number.
    ///
    /// `isKnown`: a fence was made from the same bytes before.
    ///
    /// - Throws: ``MemoryCodingError`` for bytes that no version of this program wrote, and for a fence that breaks a rule.
    package init(id: Int32, encoded bytes: [UInt8], isKnown: Bool = false) throws(MemoryCodingError) {
        var reader = ByteReader(bytes)
        let version = try reader.byte()
        guard version == Self.version else {
            throw MemoryCodingError(description: "fence \(id) has format \(version), not \(Self.version)")
        }
        let revision = try reader.number()
        let areaRevision = try reader.number()
        let created = Timestamp(milliseconds: try reader.signed())
        let modified = Timestamp(milliseconds: try reader.signed())
        let revisedAt = Timestamp(milliseconds: try reader.signed())
        let definition = try reader.definition()
        guard reader.remaining == 0 else {
            throw MemoryCodingError(description: "\(reader.remaining) bytes follow fence \(id)")
        }
        self = try kept { () throws(FenceError) in
            try Fence(
                id: id, revision: revision, areaRevision: areaRevision, definition, created: created,
                modified: modified, revisedAt: revisedAt, isKnown: isKnown)
        }
    }
}

extension FenceDefinition {
    /// How many bytes of ``Fence/encoded`` it takes.
    package var encodedCount: Int {
        var writer = ByteWriter()
        writer.definition(self)
        return writer.bytes.count
    }
}

extension ByteReader {
    /// Where the vertices of a fence are, from where its bytes begin.
    mutating func lines() throws(MemoryCodingError) -> [FenceBytes.Line] {
        _ = try byte()
        for _ in 0..<5 { _ = try signed() }
        var lines: [FenceBytes.Line] = []
        try passShape(into: &lines)
        return lines
    }
}

/// What breaks a rule was written by no version of this program, or by a later one.
func kept<Value>(_ make: () throws(FenceError) -> Value) throws(MemoryCodingError) -> Value {
    do throws(FenceError) {
        return try make()
    } catch {
        throw MemoryCodingError(description: error.description)
    }
}
