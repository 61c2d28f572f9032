/// The labels of the fences of a service. A change costs no copy of all of them, also while others hold the labels as they
/// were before.
struct FenceLabels: Sendable {
    /// It changes only when all of them are put together anew.
    private let packed: [Int32: FenceLabel]
    /// Nil: the fence is not there any more.
    private var changed: [Int32: FenceLabel?] = [:]
    private(set) var count: Int

    init(_ labels: [Int32: FenceLabel] = [:]) {
        packed = labels
        count = labels.count
    }

    subscript(fence: Int32) -> FenceLabel? {
        get {
            if let change = changed[fence] { return change }
            return packed[fence]
        }
        set {
            count += (newValue == nil ? 0 : 1) - (self[fence] == nil ? 0 : 1)
            changed[fence] = .some(newValue)
        }
    }

    /// The same labels, without a list of changes.
    func rebuilt() -> FenceLabels {
        var labels = packed
        for (fence, label) in changed { labels[fence] = label }
        return FenceLabels(labels)
    }
}
