/// Why a delivery cannot be used.
package struct FenceDeliveryError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
