/// What the journal remembers of an alarm that the size limit has dropped, or whose content is lost, so that it recognises
/// the push if it comes again.
struct AlarmTrace: Hashable, Sendable {
    let number: UInt64
    /// The server's number of the push; not 0.
    let id: UInt64
    /// The alarm's time by the server's clock; 0 when unknown.
    let serverTime: Int64

    init(number: UInt64, id: UInt64, serverTime: Int64) {
        (self.number, self.id, self.serverTime) = (number, id, serverTime)
    }

    init(_ entry: AlarmJournal.Entry) {
        self.init(number: entry.number, id: entry.id, serverTime: entry.serverTime)
    }
}
