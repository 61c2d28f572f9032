import Ingest
import Logging
import NIOCore
import Synchronization
import TrackModel
import TrackStore
import TrackWire

/// The work that others do for one connection, off its event loop. Each answer comes back on the loop, also after a
/// cancellation.
final class SessionWork {
    enum Kind: Hashable {
        case admission, stream, times, pushes, fences
        case call(UInt64)
    }

    private let core: GatewayCore
    private var tasks: [Kind: Task<Void, Never>] = [:]

    init(_ core: GatewayCore) {
        self.core = core
    }

    func cancel(_ kind: Kind) { tasks[kind]?.cancel() }

    func cancelAll() {
        for task in tasks.values { task.cancel() }
        tasks = [:]
    }

    /// Asks the store for a login.
    func admit(
        _ request: LoginRequest, from address: String, on context: ChannelHandlerContext?,
        then: @escaping (Result<AcceptedLogin, LoginRefusal>) -> Void
    ) {
        let core = core
        start(.admission, on: context, then: then) {
            do throws(LoginRefusal) {
                return .success(
                    try await Login.admit(request, from: address, to: core))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Claims an entity on a stream.
    func open(
        _ stream: StreamID, of entity: EntityKey, on context: ChannelHandlerContext?,
        then: @escaping (Result<StreamClaim, IngestFailure>) -> Void
    ) {
        let core = core
        start(.stream, on: context, then: then) {
            do throws(TrackStoreError) {
                return .success(
                    try await core.store.openStream(stream, of: entity.name, in: entity.service, at: core.now()))
            } catch {
                core.lines.write(.error, "The store cannot open a stream", ["reason": "\(error.detail)"], of: .store)
                return .failure(IngestFailure(error))
            }
        }
    }

    /// Asks the store where an entity was at its points; nil: it failed.
    func findPlaces(
        of entity: EntityKey, in ranges: [ClosedRange<Timestamp>], on context: ChannelHandlerContext?,
        then: @escaping ([Timestamp: Coordinate]?) -> Void
    ) {
        let core = core
        start(.times, on: context, then: then) {
            var places: [Timestamp: Coordinate] = [:]
            do throws(TrackStoreError) {
                for range in ranges {
                    let found = try await core.store.points(
                        of: entity.name, in: entity.service, from: range.lowerBound, through: range.upperBound,
                        limit: 200_000)
                    for stored in found { places[stored.point.fix.time] = stored.point.fix.coordinate }
                }
                return places
            } catch {
                core.lines.write(.error, "The store cannot find points", ["reason": "\(error.detail)"], of: .store)
                return nil
            }
        }
    }

    /// Asks the store for an entity's pushes; nil: it failed.
    func loadPushes(
        of entity: EntityKey, after cursor: StoreCursor?, limit: Int, on context: ChannelHandlerContext?,
        then: @escaping ((through: StoreCursor, pushes: [PendingPush])?) -> Void
    ) {
        let core = core
        start(.pushes, on: context, then: then) {
            do throws(TrackStoreError) {
                return try await core.store.pendingPushes(
                    of: entity.name, in: entity.service, after: cursor, at: core.now(), limit: limit)
            } catch {
                core.lines.write(.error, "The store cannot tell of pushes", ["reason": "\(error.detail)"], of: .store)
                return nil
            }
        }
    }

    /// Asks the store for an entity's fences.
    func loadFences(
        of entity: EntityKey, since version: Int64, around place: Coordinate?, on context: ChannelHandlerContext?,
        then: @escaping (SessionMachine.FenceAnswer) -> Void
    ) {
        let core = core
        start(.fences, on: context, then: then) {
            do throws(TrackStoreError) {
                return .update(try await core.fences.update(of: entity, since: version, around: place))
            } catch {
                core.lines.write(.error, "The store cannot tell of fences", ["reason": "\(error.detail)"], of: .store)
                return .failed
            }
        }
    }

    /// Begins a call; false when the vehicle, its service or all connections together have too many at work.
    func start(
        _ number: UInt64, _ call: Call, by entity: EntityKey, on context: ChannelHandlerContext?,
        then: @escaping ((Int32, String)) -> Void
    ) -> Bool {
        guard let handler = core.callHandler, context != nil else { return false }
        guard core.callShares.withLock({ $0.begin(entity) }) else { return false }
        let core = core
        start(.call(number), on: context, then: then) {
            let answer = await handler(entity.service, entity.name, call.path, call.parameters)
            core.callShares.withLock { $0.end(entity) }
            return answer
        }
        return true
    }

    private func start<Answer: Sendable>(
        _ kind: Kind, on context: ChannelHandlerContext?, then: @escaping (Answer) -> Void,
        _ work: @escaping @Sendable () async -> Answer
    ) {
        guard let eventLoop = context?.eventLoop else { return }
        let bound = NIOLoopBound((work: self, then: then), eventLoop: eventLoop)
        tasks[kind] = Task(executorPreference: core.tasks.executor) {
            let answer = await work()
            eventLoop.execute {
                bound.value.work.tasks[kind] = nil
                bound.value.then(answer)
            }
        }
    }
}

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
