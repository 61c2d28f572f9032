import JSON

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
