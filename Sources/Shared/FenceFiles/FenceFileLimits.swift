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
