/// The system's wall clock: what people are shown. It may be wrong and it may jump, so nothing is decided with it.
package struct SystemTime: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }
}
