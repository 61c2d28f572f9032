import AgentControl
import FenceCommands
import JSON
import Terminal
import TrackModel

/// Alarms of fences by what they tell themselves: their name, or the number of a server fence.
///
/// The agent chooses alarms that it has found itself. Those that the server has told, and those of fences that are gone, say in
/// their content which fence it was.
struct AlarmSearch {
    /// Numbers and names.
    let fences: [String]
    /// Any of them; empty: any.
    let actions: [String]
    /// The oldest after this number; nil: the newest.
    let after: Int64?
    let limit: Int

    /// `filter`: the other conditions, for the agent. The answer is as the agent's.
    func run(_ agent: AgentOptions, _ filter: [String: JSONValue?]) async throws -> JSONValue {
        var found: [JSONValue] = []
        var (cursor, isCut) = (after ?? 0, false)
        while true {
            let page = try await agent.reply(
                .listAlarms,
                filter.merging(["after": .integer(cursor), "limit": .integer(AlarmSelection.maximumCount)]) { $1 })
            let alarms = page["alarms"]?.arrayValue ?? []
            found += alarms.filter(matches)
            if found.count > limit {
                isCut = true
                if after == nil {
                    found.removeFirst(found.count - limit)
                } else {
                    found.removeLast(found.count - limit)
                }
            }
            guard page["more"]?.boolValue == true, let last = alarms.last?["number"]?.integerValue, last > cursor,
                !(isCut && after != nil)
            else { break }
            cursor = last
        }
        if found.isEmpty { try await demandFences(agent) }
        return ["alarms": .array(found), "more": .bool(isCut)]
    }

    private func matches(_ alarm: JSONValue) -> Bool {
        guard let body = alarm["body"], let number = body["fence_id"]?.integerValue else { return false }
        let name = ExactName(body["fence_name"]?.stringValue ?? "")
        let isMeant = fences.isEmpty || fences.contains { Int64($0).map { $0 == number } ?? (ExactName($0) == name) }
        return isMeant && (actions.isEmpty || actions.contains(body["action"]?.stringValue ?? ""))
    }

    /// A name that no alarm and no fence has is mistyped.
    private func demandFences(_ agent: AgentOptions) async throws {
        for name in fences where Int64(name) == nil {
            let own = try await FenceCalls.list(["name": .string(name)], agent)
            guard own.isEmpty, try await FenceCalls.list(["name": .string(name), "source": "server"], agent).isEmpty
            else {
                continue
            }
            throw CommandFailure(
                .failed,
                "there is no fence '\(name.shortened)', and no alarm of one: saker fence list shows the vehicle's own, saker fence list --server the server's"
                    .printable)
        }
    }
}
