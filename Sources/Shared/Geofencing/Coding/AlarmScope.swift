/// Whose alarms: together with what an alarm says, it makes the alarm's key.
package struct AlarmScope: Hashable, Sendable {
    /// Fences that the agent has of its own, and fences of the server, are two spaces of numbers.
    package enum Source: UInt8, Hashable, Sendable {
        case local = 4
        case server = 3
    }

    /// The service's number.
    package let service: Int64
    package let entity: String
    package let source: Source

    package init(service: Int64, entity: String, source: Source) {
        self.service = service
        self.entity = entity
        self.source = source
    }
}
