internal import JSON

extension NewAlarm {
    /// When it happened, milliseconds since 1970; nil when nothing says so.
    ///
    /// The server's time of a push is the time at which the server queued it, which may be days after the crossing: a vehicle
    /// uploads its points when it is online again. So an alarm of a fence has the time that its content names, as an alarm has that
    /// the vehicle found itself. A message has the server's time.
    package var happened: Int64? {
        if fence == nil, early == nil, type == 3 || type == 4, let told = timeInBody { return told }
        return time > 0 ? time : nil
    }

    /// Of the crossing, or of the point that proved it.
    private var timeInBody: Int64? {
        guard let content = try? JSONReader.value(of: Array(body.utf8)) else { return nil }
        let crossing = content["crossing"]?["time"]?.integerValue
        let point = content["alarm_point"]?["loc_time"]?.integerValue.map { $0.multipliedReportingOverflow(by: 1000) }
        let told = crossing ?? point.flatMap { $0.overflow ? nil : $0.partialValue }
        return told.flatMap { $0 > 0 ? $0 : nil }
    }
}
