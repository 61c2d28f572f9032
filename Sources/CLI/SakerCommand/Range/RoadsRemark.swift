import JSON
import Terminal

/// What an answer says of roads: the member `roads` of the Web API.
struct RoadsRemark: Hashable {
    /// `used`, `partly`, `none`, `off` or `unavailable`.
    private(set) var state: String
    /// The share of the points on roads, 0 to 1.
    private(set) var matched: Double?
    /// Why the road engine gave nothing.
    private(set) var reason: String?
    /// What whoever shows the track must show too.
    private(set) var attribution: String?
    /// Points behind ``matched``.
    private var weight = 0.0

    /// Nil when nobody asked for roads.
    init?(_ answer: JSONValue) {
        guard let roads = answer["roads"], let state = roads["state"]?.stringValue else { return nil }
        self.state = state
        matched = roads["matched"]?.doubleValue
        reason = roads["reason"]?.stringValue
        attribution = roads["attribution"]?.stringValue
        // A part in which the vehicle only stood has no share, and does not change that of the others.
        weight = isUsed && matched == nil ? 0 : max(answer["total"]?.doubleValue ?? 1, 1)
    }

    /// Roads were used for a part of the track at least, so that the attribution has to be shown.
    var isUsed: Bool { ["used", "partly"].contains(state) }

    /// Of two answers about parts of one range.
    func joined(_ other: RoadsRemark) -> RoadsRemark {
        var joined = self
        if state != other.state {
            // A part without points has no roads, and says nothing of the others.
            let worst = ["unavailable", "off", "none"].first { [state, other.state].contains($0) }
            joined.state = isUsed || other.isUsed ? "partly" : worst ?? state
        }
        if matched != nil || other.matched != nil {
            joined.matched =
                ((matched ?? 0) * weight + (other.matched ?? 0) * other.weight) / (weight + other.weight)
        }
        joined.weight = weight + other.weight
        joined.reason = reason ?? other.reason
        joined.attribution = attribution ?? other.attribution
        return joined
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["state": .string(state)]
        members["matched"] = matched.map { .double(($0 * 1000).rounded() / 1000) }
        members["reason"] = reason.map { .string($0) }
        members["attribution"] = attribution.map { .string($0) }
        return .object(members)
    }

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

/// What every answer says beside its content: whether roads were used, and which points the store cannot read. Joined for
/// several answers.
struct JoinedRemarks: Hashable {
    private(set) var roads: RoadsRemark?
    private var message: JSONValue?
    private var unreadable: [JSONValue] = []

    mutating func add(_ answer: JSONValue) {
        message = message ?? answer["message"]
        if let remark = RoadsRemark(answer) { roads = roads.map { $0.joined(remark) } ?? remark }
        // Parts overlap, so two answers may name the same hole.
        for hole in answer["unreadable"]?.arrayValue ?? [] where !unreadable.contains(hole) { unreadable.append(hole) }
    }

    /// An answer with these remarks, in the server's form.
    func answer(_ members: [String: JSONValue]) -> JSONValue {
        var members = members
        members["status"] = 0
        members["message"] = message
        members["roads"] = roads?.json
        if !unreadable.isEmpty { members["unreadable"] = .array(unreadable) }
        return .object(members)
    }
}
