import Ingest
import NIOCore

/// A connection as other threads see it: every call hops to its event loop and does nothing once it is gone.
struct SessionLink: IngestOwner {
    let number: UInt64
    var source: IngestSource { .session(number) }
    let eventLoop: any EventLoop
    private let connection: NIOLoopBound<GatewayConnection>

    /// On the connection's event loop.
    init(number: UInt64, connection: GatewayConnection, eventLoop: any EventLoop) {
        self.number = number
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
