/// Why a shape was refused. The text names the value, the rule and what to do.
package struct ShapeError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Rule: Hashable, Sendable {
        case coordinate
        case count
        case noArea
        case radius
        case buffer
        case halfTurn
        case aroundPole
        case tooWide
        case crossing
        case holeOutside
        case partInside
        case tooIntricate
    }

    package let rule: Rule
    package let description: String

    init(_ rule: Rule, _ description: String) {
        self.rule = rule
        self.description = description
    }
}

extension Degrees {
    /// Latitude and longitude as people write them, with at most seven decimals.
    /// A longitude beyond 180 degrees is one of an unwrapped line, and is written wrapped.
    var text: String {
        let wrapped = longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
        return "\(Self.text(latitude)), \(Self.text(wrapped))"
    }

    /// As they were given, in or out of their ranges.
    var textAsGiven: String { "\(Self.text(latitude)), \(Self.text(longitude))" }

    private static func text(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e9 else { return "\(value)" }
        let scaled = Int64((value * 1e7).rounded())
        var decimals = String(scaled.magnitude % 10_000_000)
        decimals = String(repeating: "0", count: 7 - decimals.count) + decimals
        while decimals.count > 1, decimals.hasSuffix("0") { decimals.removeLast() }
        return (scaled < 0 ? "-" : "") + "\(scaled.magnitude / 10_000_000).\(decimals)"
    }
}
