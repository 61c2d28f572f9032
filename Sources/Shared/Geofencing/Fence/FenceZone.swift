/// The zone in whose local time a fence's weekly windows are given.
package enum FenceZone: Hashable, Sendable {
    /// Seconds east of UTC, ``offsets``.
    case offset(Int32)
    /// A name of the IANA database, such as `Asia/Shanghai`. Whoever makes a plan says what it stands for.
    case named(String)

    package static let offsets: ClosedRange<Int32> = -86_400...86_400
}
