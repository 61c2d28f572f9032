import Ingest
import TrackModel
import TrackStore

/// Answers of the writer, the store and the calls.
extension SessionMachine {
    // MARK: The writer

    /// The answer to `reserve`.
    mutating func reserved(
        _ reservation: Reservation, cost: Int, _ answer: ReservationAnswer, now: MonotonicTime, clock: Timestamp
    ) -> [Action] {
        guard case .open = phase else { return answer == .granted ? [.release(cost: cost)] : [] }
        return inSession(now) { $0.reserved(reservation, cost: cost, answer, clock: clock) }
    }

    /// A reservation that failed before may succeed now.
    mutating func spaceIsFree(now: MonotonicTime) -> [Action] { inSession(now) { $0.proceed() } }

    /// A transaction has ended.
    mutating func settled(_ jobs: [SettledJob], now: MonotonicTime, clock: Timestamp) -> [Action] {
        // A failure that comes after the end must not change the session any more.
        guard case .open = phase else { return [.forget] }
        return inSession(now) { $0.settled(jobs, clock: clock) }
    }

    /// The points of the ranges that the store was asked for; nil: it failed.
    mutating func placesFound(_ places: [Timestamp: Coordinate]?, now: MonotonicTime) -> [Action] {
        inSession(now) { $0.placesFound(places) }
    }

    mutating func streamOpened(_ result: Result<StreamClaim, IngestFailure>, now: MonotonicTime) -> [Action] {
        inSession(now) { $0.streamOpened(result) }
    }

    // MARK: Calls

    /// The answer to `startCall`: false when too many are at work.
    mutating func callStarted(_ number: UInt64, _ isStarted: Bool, now: MonotonicTime) -> [Action] {
        guard case .open = phase else { return isStarted ? [.cancelCall(number)] : [] }
        return inSession(now) { SessionStep($0.calls.started(number, isStarted, now: now)) }
    }

    mutating func callAnswered(_ number: UInt64, status: Int32, json: String, now: MonotonicTime) -> [Action] {
        inSession(now) { SessionStep($0.calls.answered(number, status: status, json: json)) }
    }

    // MARK: Pushes

    /// The session begins, or something was queued for its entity.
    mutating func pushesMayWait(now: MonotonicTime, clock: Timestamp) -> [Action] {
        inSession(now) { $0.inPushes(clock) { $0.mayWait(now: now) } }
    }

    /// The pushes that the store had; nil: the store failed.
    mutating func pushesLoaded(
        _ found: (through: PushMark, pushes: [PendingPush])?, now: MonotonicTime, clock: Timestamp
    ) -> [Action] {
        inSession(now) { session in
            session.inPushes(clock) { pushes in
                guard let found else { return pushes.loadFailed(now: now) }
                return pushes.loaded(found.pushes, through: found.through, now: now)
            }
        }
    }

    /// Another session of the entity has acknowledged them.
    mutating func pushesSettled(_ ids: [UInt64], now: MonotonicTime, clock: Timestamp) -> [Action] {
        inSession(now) { $0.inPushes(clock) { $0.settledElsewhere(ids, now: now) } }
    }

    // MARK: Fences

    /// The session begins, or fences that concern its entity may have changed.
    mutating func fencesMayHaveChanged(now: MonotonicTime) -> [Action] {
        inSession(now) { $0.inFences { $0.mayHaveChanged() } }
    }

    /// The answer to `loadFences`.
    mutating func fencesLoaded(_ answer: FenceAnswer, now: MonotonicTime) -> [Action] {
        inSession(now) { session in
            session.inFences { feed in
                switch answer {
                case .update(let update): feed.loaded(update)
                case .failed: feed.failed()
                }
            }
        }
    }

    /// The actions that send the next part of fences; nil when there is none.
    mutating func nextFences(now: MonotonicTime) -> [Action]? {
        guard case .open(var session) = phase else { return nil }
        phase = .closing
        let step = session.nextFences()
        phase = .open(session)
        return step?.actions
    }
}
