internal import FenceDelivery
internal import LocalFences
internal import NIOCore
internal import TrackModel
internal import TrackWire

/// Puts the messages of server fences together, and works out what they make of the fences beside the event loop, one delivery
/// after the other, in the order in which they came: a delivery has up to 8 MiB.
///
/// Owns the messages of a delivery that is not whole yet, and the deliveries that wait. May touch: the executor of long work, and
/// one timer.
final class FenceDeliveryQueue {
    private enum Timer { case again }

    /// Why a delivery is not taken.
    struct Failure: Error {
        let reason: String
    }

    typealias Outcome = Result<ServerFenceWork.Done, Failure>

    private let context: ShellContext
    private let executor: any LongWorkExecutor
    private let timers: ShellTimers<Timer>
    private var reader = FenceDeliveryReader()
    /// The first one is worked out.
    private var waiting: [PackedFenceDelivery] = []
    private var isAtWork = false
    private var attempts = 0
    /// Counts the times at which all deliveries were forgotten: what was worked out before is nothing.
    private var generation = 0

    /// Deliveries that wait, and the bytes of all of them.
    private static let (mostWaiting, mostBytes) = (64, 2 * FenceDelivery.mostBytes)
    /// Milliseconds until the executor is asked again when too much waits for it.
    private static let pause: Int64 = 500
    /// How often a delivery is worked out because the fences have changed meanwhile: only dates that go back change them.
    private static let mostAttempts = 5

    init(_ context: ShellContext, executor: any LongWorkExecutor) {
        self.context = context
        self.executor = executor
        timers = ShellTimers(context)
    }

    /// Takes a message. True: a whole delivery waits.
    ///
    /// - Throws: when the message does not follow the one before it, or when too much waits.
    func take(_ update: FenceUpdate) throws(Failure) -> Bool {
        let whole: PackedFenceDelivery?
        do throws(FenceDeliveryError) {
            whole = try reader.take(update)
        } catch {
            throw Failure(reason: error.description)
        }
        guard let delivery = whole else { return false }
        // Nothing is wanted of deliveries before one that replaces everything. The first one may be at work.
        if delivery.base == 0 { waiting.removeLast(max(0, waiting.count - (isAtWork ? 1 : 0))) }
        guard waiting.count < Self.mostWaiting,
            waiting.reduce(delivery.count, { $0 + $1.count }) <= Self.mostBytes
        else {
            throw Failure(
                reason:
                    "\(waiting.count) updates of fences wait already: the computer is slower than the server's changes")
        }
        waiting.append(delivery)
        return true
    }

    /// Works out what waits. `begin`: begins with the fences as they are then; nil ends it. `done`: gets what one delivery, of this
    /// version, makes of them; false: the fences have changed meanwhile.
    func workOut(
        begin: @escaping () -> ServerFenceWork?, done: @escaping (_ version: UInt64, Outcome) -> Bool
    ) {
        guard !isAtWork, let delivery = waiting.first, let work = begin() else { return }
        let working = executor.perform(on: context.loop) { Self.run(work, delivery) }
        guard let working else {
            return timers.set(.again, milliseconds: Self.pause) { [self] in workOut(begin: begin, done: done) }
        }
        (isAtWork, attempts) = (true, attempts + 1)
        let number = generation
        working.assumeIsolated().whenSuccess { [self] outcome in
            isAtWork = false
            if number == generation {
                if done(delivery.version, outcome) {
                    next()
                } else if attempts >= Self.mostAttempts {
                    let failure = Failure(reason: "the dates of the receiver change too fast")
                    _ = done(delivery.version, .failure(failure))
                    next()
                }
            }
            workOut(begin: begin, done: done)
        }
    }

    private func next() {
        if !waiting.isEmpty { waiting.removeFirst() }
        attempts = 0
    }

    /// On any thread.
    private static func run(_ work: ServerFenceWork, _ delivery: PackedFenceDelivery) -> Outcome {
        do throws(FenceDeliveryError) {
            let delivery = try delivery.unpacked()
            do throws(FenceRefusal) {
                return .success(try work.run(delivery))
            } catch {
                return .failure(Failure(reason: error.description))
            }
        } catch {
            return .failure(Failure(reason: error.description))
        }
    }

    /// What has come is worth nothing: it is sent again.
    func forget() {
        reader = FenceDeliveryReader()
        waiting = []
        attempts = 0
        generation += 1
        timers.cancel(.again)
    }

    func shutDown() { forget() }
}

/// By which versions of the server's fences the gathered points of an entity were judged: what the link tells the server.
struct JudgedVersions: Hashable {
    let service: Int64
    let entity: String
    /// What the agent has; 0: none.
    let version: UInt64
    let uses: [VersionUse]

    func isOf(_ entity: String, _ service: ServiceID) -> Bool {
        service.rawValue == self.service && ExactName(entity) == ExactName(self.entity)
    }

    /// Those that judged points of a batch.
    func uses(of upload: PreparedUpload) -> [FenceUse] {
        uses.covering(from: upload.firstTime, through: upload.lastTime).map { use in
            var told = FenceUse()
            (told.version, told.after, told.base) = (use.version, use.after.milliseconds, use.base)
            return told
        }
    }
}
