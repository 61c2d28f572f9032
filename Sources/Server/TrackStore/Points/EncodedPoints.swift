/// A batch payload of any format that this program reads, see docs/formats/batch-payload.md.
package struct EncodedPoints: Hashable, Sendable {
    package var isCompressed: Bool
    package var bytes: [UInt8]

    package init(isCompressed: Bool, bytes: [UInt8]) {
        self.isCompressed = isCompressed
        self.bytes = bytes
    }
}
