package import Geodesy

/// Why a fence was refused. The text names the value, the rule and what to do.
package struct FenceError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Rule: Hashable, Sendable {
        case name
        case shape(ShapeError.Rule)
        case rule
        case stay
        case settle
        case crossingGap
        case denoise
        case floor
        case altitude
        case speedLimit
        case validity
        case zone
        case group
        case watch
        case reaction
        case origin
        case revision
    }

    package let rule: Rule
    package let description: String

    package init(_ rule: Rule, _ description: String) {
        self.rule = rule
        self.description = description
    }
}

extension FenceError {
    /// Throws when a text has more bytes than it may, or none.
    static func checkText(
        _ text: String, _ name: String, _ rule: Rule, most: Int, mayBeEmpty: Bool = false
    ) throws(FenceError) {
        guard mayBeEmpty || !text.isEmpty else {
            throw FenceError(rule, "\(name) is empty: give it a text, or leave it out")
        }
        guard text.utf8.count <= most else {
            throw FenceError(
                rule, "\(name) has \(text.utf8.count) bytes of UTF-8: at most \(most) are kept, shorten it")
        }
    }
}
