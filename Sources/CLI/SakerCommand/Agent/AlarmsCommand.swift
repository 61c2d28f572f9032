import AgentControl
import ArgumentParser
import FenceCommands
import JSON
import Terminal
import TrackModel

/// `saker alarms`
struct AlarmsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alarms",
        abstract: "Shows the alarms and messages that this vehicle has received.",
        discussion: """
            The agent keeps them for eight days. Times: \(TimeExpression.examples).

            Examples:
              saker alarms --from yesterday
              saker alarms --type 3 --limit 10          the last ten alarms of server fences
              saker alarms --fence depot --action exit  when the vehicle left the fence depot
              saker alarms --after 41 --json            alarms after number 41, for a program
            """)

    @OptionGroup var agent: AgentOptions
    @OptionGroup var table: TableOptions

    @Option(name: .long, help: ArgumentHelp("Only those of this time and later.", valueName: "time"))
    var from: String?

    @Option(name: .long, help: ArgumentHelp("Only those up to this time.", valueName: "time"))
    var through: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: "Only those of a type: 3 server fence, 4 local fence, 65 to 255 messages of the fleet's operator.")
    var type: Int64?

    @Option(name: .long, help: ArgumentHelp("Only those for this entity.", valueName: "name"))
    var entity: String?

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Only those of this fence; may be given again. By name: the vehicle's own and the server's fences, also those that are gone. By number: the vehicle's own, or with --type 3 the server's.",
            valueName: "fence"))
    var fence: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only those of fences that tell this: enter, exit, stay or overspeed; may be given again.",
            valueName: "action"))
    var action: [String] = []

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Only those with a greater number, the oldest of them first.", valueName: "number"))
    var after: Int64?

    @Option(
        name: .long, parsing: .unconditional, help: ArgumentHelp("At most so many, 1 to 1000.", valueName: "number"))
    var limit: Int64 = 100

    func validate() throws {
        guard 1...1000 ~= limit else { throw ValidationError("--limit \(limit) is not allowed: give 1 to 1000") }
        if let fence = fence.first(where: { Int64($0).map { $0 < 1 } ?? $0.isEmpty }) {
            throw ValidationError(
                "--fence '\(fence)' is no fence: give a number of 1 or more or a name, as saker fence list shows them")
        }
        for action in action where AlarmSelection.Action(rawValue: action) == nil {
            throw ValidationError("--action '\(action.shortened)' is none: give enter, exit, stay or overspeed")
        }
    }

    func run() async throws {
        let now = LocalTime.now
        let from = try from.map { try TimeExpression.milliseconds($0, "--from", now: now) }
        let through = try through.map { try TimeExpression.milliseconds($0, "--through", now: now) }
        let filter: [String: JSONValue?] = [
            "from": from.map(JSONValue.integer), "through": through.map(JSONValue.integer),
            "type": type.map(JSONValue.integer), "entity": entity.map(JSONValue.string),
        ]
        let numbers = fence.compactMap(Int64.init)
        // The agent knows its own fences by their numbers.
        let isOfOwn = !numbers.isEmpty && numbers.count == fence.count && type != 3
        guard !isOfOwn, !fence.isEmpty || !action.isEmpty else {
            return try await agent.call(
                .listAlarms,
                filter.merging([
                    "fences": isOfOwn ? .array(numbers.map(JSONValue.integer)) : nil,
                    "actions": action.isEmpty ? nil : .array(action.map(JSONValue.string)),
                    "after": after.map(JSONValue.integer), "limit": .integer(limit),
                ]) { $1 }
            ) { (reply: AlarmsReply) in AlarmView.lines(reply, width: table.width) }
        }
        let search = AlarmSearch(fences: fence, actions: action, after: after, limit: Int(limit))
        let reply = try await search.run(agent, filter)
        guard !agent.json else { return Output.print(json: reply.description) }
        for line in AlarmView.lines(try AgentOptions.decoded(reply), width: table.width) { Output.print(line) }
    }
}

/// Alarms for people.
enum AlarmView {
    static func lines(_ reply: AlarmsReply, width: Int? = nil) -> [String] {
        guard !reply.alarms.isEmpty else { return ["No alarms."] }
        var table = TextTable([
            .number("NUMBER"), "TIME", .text("ENTITY", rank: 2), TextTable.Column("KIND", rank: 1), .text("CONTENT"),
        ])
        for alarm in reply.alarms {
            table.add(
                "\(alarm.number)", LocalTime.text(alarm.time ?? alarm.received), alarm.entity, kind(alarm),
                content(alarm))
        }
        return table.lines(width: width)
            + (reply.more ? ["There are more: give --limit, --from, --through or --after."] : [])
    }

    /// In one line, without its time.
    static func text(_ alarm: AlarmReport) -> String { "\(kind(alarm)) \(alarm.number): \(content(alarm))" }

    private static func kind(_ alarm: AlarmReport) -> String {
        switch alarm.type {
        case 3: "fence alarm"
        case 4: "local fence alarm"
        case 65: "message"
        default: "message \(alarm.type)"
        }
    }

    private static func content(_ alarm: AlarmReport) -> String {
        if let text = fence(alarm.body) {
            let who = alarm.body["monitored_person"]?.stringValue ?? alarm.entity
            return who == alarm.entity ? text : "\(who): \(text)"
        }
        if let members = alarm.body.objectValue, members.count == 1, let text = members["text"]?.stringValue {
            return text
        }
        return alarm.body.stringValue ?? alarm.body.description
    }

    /// What an alarm of a fence tells; nil for another content.
    private static func fence(_ body: JSONValue) -> String? {
        guard let action = body["action"]?.stringValue, let number = body["fence_id"]?.integerValue else { return nil }
        let name = body["fence_name"]?.stringValue ?? ""
        var text = "\(action) \(name.isEmpty ? "fence \(number)" : "\(name) (fence \(number))")"
        if let group = body["group"]?.stringValue {
            text = "\(action) group \(group) by \(name.isEmpty ? "fence \(number)" : name)"
        }
        if let inside = body["inside"]?.integerValue { text += ", inside for \(DurationText.text(inside))" }
        if let parameters = body["params"], parameters.objectValue?.isEmpty == false { text += " \(parameters)" }
        return text
    }
}

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
