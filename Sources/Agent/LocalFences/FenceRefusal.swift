package import Geofencing

/// Why the box's fences were not changed. Nothing has changed. The text names the value, the rule and what to do.
package struct FenceRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case unknownFence(Int32)
        /// Of the definition with this place in the list that was given.
        case definition(Int, FenceError.Rule)
        case tooMany
        /// The fences on the disk could not be read, and a change would write over them.
        case unreadable
        /// A text of an import, or its order.
        case text
    }

    package let reason: Reason
    package let description: String

    package init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }

    package init(unknown number: Int32) {
        self.init(
            .unknownFence(number), "there is no local fence \(number): list the fences to see their numbers")
    }
}
