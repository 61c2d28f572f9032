/// The numbers that bound the fences of a store.
package enum FenceRules {
    /// Most fences of a service that watch everyone.
    package static let mostPublic = 100_000
    /// Most fences that watch an entity by name.
    package static let mostNaming = 1000
    /// Most different numbers of a filter.
    package static let mostNumbers = 10_000
    /// Milliseconds for which a store can tell what has changed: 30 days.
    package static let newsKept: Int64 = 30 * 86_400_000
    /// Milliseconds that an alarm stays in the history: 7 days.
    package static let history: Int64 = 7 * 86_400_000
}
