internal import AgentControl
internal import AlarmLog
internal import JSON

extension AlarmReport {
    init(_ alarm: Alarm) {
        let content = alarm.content
        self.init(
            number: Int64(clamping: alarm.number), id: content.id == 0 ? nil : Int64(bitPattern: content.id),
            type: Int64(content.type), entity: content.entity, time: content.time > 0 ? content.time : nil,
            received: content.received,
            body: (try? JSONReader.value(of: Array(content.body.utf8))) ?? .string(content.body),
            early: content.early == nil ? nil : true, confirmed: content.early == nil ? nil : alarm.isConfirmed)
    }
}
