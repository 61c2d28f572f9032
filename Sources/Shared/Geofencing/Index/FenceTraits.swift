internal import TrackModel

/// What judging must know of all fences of a set together, near or not.
struct FenceTraits: Sendable {
    /// Distinct values above 0, in metres, in their order.
    private(set) var denoises: [Int32] = []
    private(set) var hasSpeedLimits = false
    /// The newest time at which a fence came to be or was revised.
    private(set) var newestChange = Timestamp(milliseconds: .min)

    /// A fence came to be, or was revised, at this time.
    mutating func changed(at time: Timestamp) { newestChange = max(newestChange, time) }

    /// No fence came to be, or was revised, after this time.
    mutating func begin(by time: Timestamp) { newestChange = min(newestChange, time) }

    mutating func note(_ plan: FencePlan) {
        changed(at: max(plan.from, plan.revisedAt))
        hasSpeedLimits = hasSpeedLimits || plan.speedLimit != nil
        if plan.denoise > 0, !denoises.contains(plan.denoise) {
            denoises.append(plan.denoise)
            denoises.sort()
        }
    }
}
