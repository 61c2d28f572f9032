internal import AgentControl
internal import AlarmLog
internal import JSON

extension AlarmReport {
    init(_ alarm: Alarm) {
        let content = alarm.content
        self.init(
            number: Int64(clamping: alarm.number), id: content.id == 0 ? nil : Int64(bitPattern: content.id),
            type: Int64(content.type), entity: content.entity, time: content.happened,
            received: content.received,
            body: JSONValue(alarmBody: content.body),
            early: content.early == nil ? nil : true, confirmed: content.early == nil ? nil : alarm.isConfirmed)
    }
}

extension JSONValue {
    /// Arrays and objects inside each other that the body of an alarm may have. It stands inside of a message, and the readers of
    /// messages take ``JSONRules/depth``.
    private static let alarmBody = JSONRules(maximumDepth: JSONRules.depth - 16)

    /// The content of an alarm as programs get it: as a text when it is no JSON, or nested too deep for their readers.
    init(alarmBody text: String) {
        self = (try? JSONReader.value(of: Array(text.utf8), Self.alarmBody)) ?? .string(text)
    }
}
