internal import Compression
package import TrackModel

/// Points as a batch payload.
package struct EncodedBatch: Hashable, Sendable {
    /// True when `bytes` is one zlib stream (RFC 1950) around the format.
    package var isCompressed: Bool
    package var bytes: [UInt8]
    /// The number of points inside.
    package var count: Int

    package init(isCompressed: Bool, bytes: [UInt8], count: Int) {
        self.isCompressed = isCompressed
        self.bytes = bytes
        self.count = count
    }
}

/// Batch payload formats 1 to 3 (docs/formats/batch-payload.md). Every field of every point comes back exactly.
package enum BatchCodec {
    /// Encodes the points in their order, and compresses with zlib if that makes the payload smaller.
    ///
    /// A payload that is decoded later must have at most ``WireLimits/payloadPoints`` points, at most
    /// ``WireLimits/payloadValues`` attribute values (points times distinct keys), and at most
    /// ``WireLimits/plainPayloadBytes`` bytes before compression.
    ///
    /// `format`: the highest format that the reader understands, at least 1. What an older format cannot express is
    /// left out.
    package static func encode(_ points: [TrackPoint], format: Int = WireLimits.payloadFormat) -> EncodedBatch {
        let plain = BatchEncoder.encode(points, format: format)
        // The columns are packed to the bit, so zlib only finds repeated patterns and texts.
        if plain.count >= 64, plain.count <= WireLimits.plainPayloadBytes,
            let compressed = try? Zlib.compress(plain, level: 6), compressed.count < plain.count
        {
            return EncodedBatch(isCompressed: true, bytes: compressed, count: points.count)
        }
        return EncodedBatch(isCompressed: false, bytes: plain, count: points.count)
    }

    /// The points of a payload.
    ///
    /// Throws `.tooLarge` when the payload claims more than `maximumCount` points or inflates beyond
    /// ``WireLimits/plainPayloadBytes``, `.unsupportedVersion`, and `.malformed` for anything else. Without attributes,
    /// memory stays below about one kilobyte for each allowed point, whatever the bytes say.
    package static func decode(
        _ bytes: [UInt8], isCompressed: Bool, maximumCount: Int = WireLimits.payloadPoints
    ) throws(WireError) -> [TrackPoint] {
        try BatchDecoder.decode(plain(bytes, isCompressed: isCompressed), maximumCount: maximumCount)
    }

    /// The same points as ``decode(_:isCompressed:maximumCount:)``, packed.
    package static func decodePacked(
        _ bytes: [UInt8], isCompressed: Bool, maximumCount: Int = WireLimits.payloadPoints
    ) throws(WireError) -> PackedPoints {
        try BatchDecoder.decode(plain(bytes, isCompressed: isCompressed), maximumCount: maximumCount)
    }

    private static func plain(_ bytes: [UInt8], isCompressed: Bool) throws(WireError) -> [UInt8] {
        guard isCompressed else { return bytes }
        do {
            return try Zlib.decompress(bytes, limit: WireLimits.plainPayloadBytes)
        } catch {
            let code: WireError.Code = error.code == .tooLarge ? .tooLarge : .malformed
            throw WireError(code, "batch payload: \(error.description)")
        }
    }
}

/// One point in the compact form of the agent's disk ring: a batch payload of one point, never compressed.
package enum PointRecord {
    /// About 30 bytes with every field and no attributes.
    package static func encode(_ point: TrackPoint, format: Int = WireLimits.payloadFormat) -> [UInt8] {
        BatchEncoder.encode([point], format: format)
    }

    /// Throws `.malformed` unless the bytes are exactly one point.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> TrackPoint {
        guard let point = try BatchDecoder<[TrackPoint]>.decode(bytes, maximumCount: 1).first else {
            throw WireError(.malformed, "point record: it holds no point")
        }
        return point
    }
}
