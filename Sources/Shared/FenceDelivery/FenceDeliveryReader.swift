package import TrackWire

/// A delivery whose parts are all there. Nobody has looked into it.
package struct PackedFenceDelivery: Hashable, Sendable {
    package let version: UInt64
    package let base: UInt64
    fileprivate let bytes: [UInt8]

    /// What it takes in memory.
    package var count: Int { bytes.count }

    /// It may take seconds.
    package func unpacked() throws(FenceDeliveryError) -> FenceDelivery {
        try FenceDelivery(version: version, base: base, packed: bytes)
    }
}

/// Puts the parts of a delivery together. A part that does not fit forgets the parts before it.
package struct FenceDeliveryReader: Hashable, Sendable {
    private struct Partial: Hashable {
        let version: UInt64
        let base: UInt64
        let parts: UInt32
        var next: UInt32 = 0
        var bytes: [UInt8] = []
    }

    private var partial: Partial?

    package init() {}

    /// The delivery when this was its last part; nil while parts are missing.
    package mutating func take(_ update: FenceUpdate) throws(FenceDeliveryError) -> PackedFenceDelivery? {
        var partial = self.partial
        self.partial = nil
        if update.part == 0 {
            partial = Partial(version: update.version, base: update.base, parts: update.parts)
        }
        guard var partial, partial.version == update.version, partial.base == update.base,
            partial.parts == update.parts, partial.next == update.part, update.part < update.parts
        else {
            throw FenceDeliveryError(
                "part \(update.part) of \(update.parts) of the fences of version \(update.version) does not follow"
                    + " the part before it")
        }
        guard update.version > 0, update.base < update.version else {
            throw FenceDeliveryError(
                "fences of version \(update.version) after version \(update.base): versions only grow")
        }
        partial.bytes += update.content
        partial.next += 1
        // Compression makes nothing much larger.
        guard partial.bytes.count <= FenceDelivery.mostBytes + FenceDelivery.partBytes else {
            throw FenceDeliveryError("a fence update has more than \(FenceDelivery.mostBytes) bytes")
        }
        guard partial.next == partial.parts else {
            self.partial = partial
            return nil
        }
        return PackedFenceDelivery(version: partial.version, base: partial.base, bytes: partial.bytes)
    }
}
