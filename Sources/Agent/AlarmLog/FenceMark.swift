/// The fence that an alarm is about, and what it tells: what queries choose by, without reading the alarm's content.
package struct FenceMark: Hashable, Sendable {
    /// The raw values are those of the file.
    package enum Action: UInt8, Hashable, Sendable, CaseIterable {
        case enter = 1
        case exit = 2
        case stay = 3
        case overspeed = 4
    }

    package var fence: Int32
    package var action: Action

    package init(fence: Int32, action: Action) {
        self.fence = fence
        self.action = action
    }
}
