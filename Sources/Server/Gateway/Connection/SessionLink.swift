import Ingest
import NIOCore
import TrackStore

/// A connection as other threads see it: every call hops to its event loop and does nothing once it is gone.
struct SessionLink: IngestOwner {
    let number: UInt64
    /// As whom it logs in.
    let entity: EntityKey
    var source: IngestSource { .session(number) }
    /// A vehicle's sessions take their turns together.
    var sender: IngestSender { .vehicle(entity) }
    let eventLoop: any EventLoop
    private let connection: NIOLoopBound<GatewayConnection>

    /// On the connection's event loop.
    init(number: UInt64, of entity: EntityKey, connection: GatewayConnection, eventLoop: any EventLoop) {
        self.number = number
        self.entity = entity
        self.eventLoop = eventLoop
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    func settle(_ jobs: [SettledJob]) {
        perform { $0.settled(jobs) }
    }

    func spaceIsFree() {
        perform { $0.spaceIsFree() }
    }

    func perform(_ action: @escaping @Sendable (GatewayConnection) -> Void) {
        let connection = connection
        eventLoop.execute { action(connection.value) }
    }
}
