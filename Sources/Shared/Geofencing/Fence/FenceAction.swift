/// What an alarm tells. The raw values are the names that people and programs use.
package enum FenceAction: String, Hashable, Sendable, CaseIterable {
    /// The entity came in.
    case enter
    /// The entity went out.
    case exit
    /// The entity has been inside for some time.
    case stay
    /// The entity was faster than the fence allows, for some time.
    case overspeed
}
