/// Which changes of a fence are told.
package struct FenceRule: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let enter = Self(rawValue: 1)
    package static let exit = Self(rawValue: 2)
    package static let stay = Self(rawValue: 4)

    /// What a fence tells when nothing is said: enter and exit.
    package static let usual: Self = [.enter, .exit]
}
