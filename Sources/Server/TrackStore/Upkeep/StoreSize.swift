/// How much room a store takes on its medium.
package struct StoreSize: Hashable, Sendable {
    /// Bytes that the store occupies, its log counted.
    package var bytes: Int64
    /// Bytes that the store may still take; nil when the medium cannot tell.
    package var availableBytes: UInt64?

    package init(bytes: Int64, availableBytes: UInt64?) {
        self.bytes = bytes
        self.availableBytes = availableBytes
    }
}
