/// Why a stored memory cannot be read.
package struct MemoryCodingError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}
