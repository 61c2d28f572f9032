/// A place that changed, for the group of the fence.
struct FenceChange {
    let fence: Int32
    let group: GroupCode
    let isEnter: Bool
    /// Nil when nothing is told: the place was found, not changed.
    let crossing: Crossing?
    let plan: FencePlan
}
