import JSON
import Terminal

/// What an answer says of roads: the member `roads` of the Web API.
struct RoadsRemark: Hashable {
    /// `used`, `partly`, `none`, `off` or `unavailable`.
    let state: String
    /// The share of the points on roads, 0 to 1.
    let matched: Double?
    /// Why the road engine gave nothing.
    let reason: String?
    /// What whoever shows the track must show too.
    let attribution: String?

    /// Nil when nobody asked for roads.
    init?(_ answer: JSONValue) {
        guard let roads = answer["roads"], let state = roads["state"]?.stringValue else { return nil }
        self.state = state
        matched = roads["matched"]?.doubleValue
        reason = roads["reason"]?.stringValue
        attribution = roads["attribution"]?.stringValue
    }

    /// Roads were used for a part of the track at least, so that the attribution has to be shown.
    var isUsed: Bool { ["used", "partly"].contains(state) }

    /// A line for people: what roads did, and whose map it is.
    var line: String {
        let share = matched.map { " (\(Quantity.decimal($0 * 100, 1, trimmed: true)) % of the points)" } ?? ""
        let credit = attribution.map { ", \($0.printable)" } ?? ""
        switch state {
        case "used": return "on roads\(share)\(credit)"
        case "partly": return "partly on roads\(share)\(credit)"
        case "none" where reason == "implausible":
            return "not on roads: what the road engine answered does not fit the track"
        case "none" where reason == "no_way":
            return "not supplemented: the road engine has roads there, and no way between them"
        case "none": return "not on roads: the road engine knows no roads there"
        case "off": return "not on roads: the server has no road engine, or this request uses none"
        case "unavailable":
            let reason = reason.map { " (\(Self.reasons[$0] ?? $0.printable))" } ?? ""
            return "not on roads: the road engine gave nothing\(reason). Ask again later"
        default: return "roads: \(state.printable)\(share)\(credit)"
        }
    }

    private static let reasons = [
        "timeout": "it took too long", "refused": "it refuses connections", "busy": "it is busy",
        "open": "it failed before, the server asks it later again", "invalid": "its answers are invalid",
    ]

    /// Shows the remark: in the output of a table when roads were used, else as a warning on standard error.
    func show(inTable: Bool) {
        if isUsed, inTable { return Output.print("The track is \(line).") }
        Output.complain("saker: the track is \(line).")
    }
}
