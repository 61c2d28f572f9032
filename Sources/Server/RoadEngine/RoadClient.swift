package import Logging
package import MetricsText
package import RoadMatching
import Synchronization
import Systemd
package import TrackAnalysis
package import TrackModel

/// Asks the road engine, as ``RoadMatching`` decides: a few calls at a time, none while the engine is in trouble, and none
/// for what is known already.
package final class RoadClient: Roads {
    package struct Settings: Sendable {
        /// Calls under way at a time, of all requests together.
        package var concurrency: Int
        /// Milliseconds of one call, and of all calls for one request.
        package var callTimeout: Int64
        package var requestTimeout: Int64
        /// What the operator's vehicles are.
        package var driving: RoadCosting

        package init(
            concurrency: Int = 4, callTimeout: Int64 = RoadDeadlines.call,
            requestTimeout: Int64 = RoadDeadlines.request, driving: RoadCosting = .car
        ) {
            (self.concurrency, self.callTimeout) = (concurrency, callTimeout)
            (self.requestTimeout, self.driving) = (requestTimeout, driving)
        }
    }

    /// Milliseconds after which the map's time is asked for again.
    static let mapAge: Int64 = 60_000
    /// Bytes of remembered matches and of remembered routes.
    static let matchBytes = 32 << 20
    static let routeBytes = 4 << 20

    private struct State {
        var breaker = CircuitBreaker()
        var matches = RoadAnswerCache<MatchKey, ChunkMatch>(bytes: RoadClient.matchBytes)
        var routes = RoadAnswerCache<RouteKey, RouteAnswer>(bytes: RoadClient.routeBytes)
        /// The map's time; 0 before the engine told it.
        var mapTime: Int64 = 0
        var mapTimeAsked: MonotonicTime?
    }

    private let transport: any RoadTransport
    private let settings: Settings
    private let now: @Sendable () -> MonotonicTime
    private let logger: Logger
    private let turns: RoadCallLimiter
    private let state = Mutex(State())
    package let counters = RoadCounters()

    package init(
        _ transport: any RoadTransport, settings: Settings = Settings(), logger: Logger,
        now: @escaping @Sendable () -> MonotonicTime
    ) {
        (self.transport, self.settings, self.logger, self.now) = (transport, settings, logger, now)
        turns = RoadCallLimiter(concurrency: settings.concurrency)
    }

    /// Whether calls fall back at once because the engine is in trouble.
    package var isFallingBack: Bool { state.withLock { $0.breaker.isOpen } }

    /// Bytes of what is remembered, about.
    package var rememberedBytes: Int { state.withLock { $0.matches.bytes + $0.routes.bytes } }

    package func deadlines(_ urgency: RoadUrgency) -> RoadDeadlines {
        switch urgency {
        case .usual:
            RoadDeadlines(start: now(), request: settings.requestTimeout, call: settings.callTimeout)
        case .long:
            RoadDeadlines(
                start: now(), request: RoadDeadlines.longTimes * settings.requestTimeout, call: settings.callTimeout)
        case .latest:
            RoadDeadlines(start: now(), request: min(RoadDeadlines.latest, settings.requestTimeout))
        }
    }

    // MARK: Matching

    package func match(_ samples: [TrackSample], _ context: RoadRequestContext) async -> RoadMatch {
        let plan = TracePlan(samples)
        let costing = RoadCosting.of(context.mode, driving: settings.driving)
        guard !plan.chunks.isEmpty else {
            let track = TrackMatcher.track(plan, [])
            return RoadMatch(track, RoadsState(track, failures: []))
        }
        let mapTime = await mapTime(context.deadlines)
        let outcomes = await inParallel(plan.chunks.count) { number in
            await self.match(plan.samples(of: plan.chunks[number]), costing, mapTime, context)
        }
        var track = TrackMatcher.track(plan, outcomes.map { try? $0.get() })
        var failures = outcomes.compactMap(\.failure)
        failures += await bridge(&track, costing, mapTime, context).filter(\.isTrouble)
        counters.matched(track)
        return RoadMatch(track, RoadsState(track, failures: failures))
    }

    private func match(
        _ samples: [TrackSample], _ costing: RoadCosting, _ mapTime: Int64, _ context: RoadRequestContext
    ) async -> Result<ChunkMatch, RoadFailure> {
        let key = MatchKey(owner: context.owner, samples, costing, tiles: mapTime)
        if let known = state.withLock({ $0.matches.value(key) }) {
            counters.remembered()
            return .success(known)
        }
        let outcome = await call(TraceRequest.request(for: samples, costing), context.deadlines) {
            (reply) throws(RoadFailure) in
            ChunkMatch(try TraceAnswer(reply, count: samples.count), for: samples)
        }
        if case .success(let match) = outcome {
            state.withLock { $0.matches.remember(match, key, bytes: match.bytes) }
        }
        return outcome
    }

    /// Lays routes over holes of the path. Returns why calls gave nothing.
    private func bridge(
        _ track: inout MatchedTrack, _ costing: RoadCosting, _ mapTime: Int64, _ context: RoadRequestContext
    ) async -> [RoadFailure] {
        let bridges = Array(track.bridges.prefix(SupplementPlan.most))
        guard !bridges.isEmpty else { return [] }
        let outcomes = await inParallel(bridges.count) { number in
            await self.route(bridges[number].request(costing), mapTime, context.deadlines)
        }
        for (bridge, outcome) in zip(bridges, outcomes) {
            if let route = try? outcome.get(), bridge.accepts(route, speedCap: context.speedCap) {
                track.lay(route, over: bridge)
            }
        }
        return outcomes.compactMap(\.failure)
    }

    // MARK: Routes

    package func routes(_ interruptions: [Interruption], _ context: RoadRequestContext) async -> RoadRoutes {
        let plan = SupplementPlan(interruptions, speedCap: context.speedCap)
        let costing = RoadCosting.of(context.mode, driving: settings.driving)
        var answers = [RouteAnswer?](repeating: nil, count: interruptions.count)
        guard !plan.asked.isEmpty else { return RoadRoutes(answers, RoadsState(found: 0, asked: 0, failures: [])) }
        let mapTime = await mapTime(context.deadlines)
        let outcomes = await inParallel(plan.asked.count) { number in
            await self.route(plan.request(at: plan.asked[number], costing), mapTime, context.deadlines)
        }
        var implausible = 0
        for (position, outcome) in zip(plan.asked, outcomes) {
            guard let route = try? outcome.get() else { continue }
            if plan.accepts(route, at: position) { answers[position] = route } else { implausible += 1 }
        }
        return RoadRoutes(
            answers, implausible: implausible,
            RoadsState(
                found: answers.count { $0 != nil }, asked: plan.asked.count, implausible: implausible,
                failures: outcomes.compactMap(\.failure)))
    }

    private func route(
        _ request: RoadRequest, _ mapTime: Int64, _ deadlines: RoadDeadlines
    ) async -> Result<RouteAnswer, RoadFailure> {
        let key = RouteKey(request, tiles: mapTime)
        if let known = state.withLock({ $0.routes.value(key) }) {
            counters.remembered()
            return .success(known)
        }
        let outcome = await call(request, deadlines) { (reply) throws(RoadFailure) in
            try RouteAnswer(reply)
        }
        if case .success(let route) = outcome {
            state.withLock { $0.routes.remember(route, key, bytes: route.bytes + key.bytes) }
        }
        return outcome
    }

    // MARK: The map

    /// The time of the engine's map: the last known one when the engine does not tell it now.
    private func mapTime(_ deadlines: RoadDeadlines) async -> Int64 {
        let time = now()
        let isDue = state.withLock { state in
            guard state.mapTimeAsked.map({ time - $0 >= Self.mapAge }) ?? true else { return false }
            // One request asks; the others use what is known.
            state.mapTimeAsked = time
            return true
        }
        guard isDue else { return state.withLock { $0.mapTime } }
        let outcome = await call(.status, deadlines) { (reply) throws(RoadFailure) in
            try EngineStatus(reply)
        }
        return state.withLock { state in
            if let status = try? outcome.get() {
                state.mapTime = status.tilesModified
            } else if state.mapTime == 0 {
                state.mapTimeAsked = nil
            }
            return state.mapTime
        }
    }

    // MARK: Calls

    /// One call, in its turn, unless the engine is in trouble.
    private func call<Answer: Sendable>(
        _ request: RoadRequest, _ deadlines: RoadDeadlines,
        _ read: @Sendable (RoadReply) throws(RoadFailure) -> Answer
    ) async -> Result<Answer, RoadFailure> {
        let outcome = await turn(request, deadlines, read)
        counters.called(outcome.failure)
        return outcome
    }

    private func turn<Answer: Sendable>(
        _ request: RoadRequest, _ deadlines: RoadDeadlines,
        _ read: @Sendable (RoadReply) throws(RoadFailure) -> Answer
    ) async -> Result<Answer, RoadFailure> {
        if let failure = await obstacle(deadlines) { return .failure(failure) }
        guard let end = deadlines.deadline(at: now()) else { return .failure(.timeout) }
        guard await turns.take(within: end - now()) else { return .failure(.busy) }
        defer { turns.leave() }
        // The engine may have failed while this call waited for its turn.
        guard !isFallingBack else { return .failure(.open) }
        let start = now()
        guard let end = deadlines.deadline(at: start) else { return .failure(.timeout) }
        do throws(RoadFailure) {
            let answer = try read(try await transport.exchange(request, within: end - start))
            succeeded(after: now() - start)
            return .success(answer)
        } catch {
            failed(error, after: now() - start, timeout: end - start)
            return .failure(error)
        }
    }

    private func succeeded(after milliseconds: Int64) {
        counters.lasted(milliseconds)
        state.withLock { $0.breaker.succeeded() }
    }

    private func failed(_ failure: RoadFailure, after milliseconds: Int64, timeout: Int64) {
        counters.lasted(milliseconds)
        guard failure.isTrouble else { return state.withLock { $0.breaker.succeeded() } }
        // A client that went away, or a request that left the engine hardly any time, says nothing about the engine.
        guard !Task.isCancelled, failure != .timeout || timeout >= RoadDeadlines.latest else { return }
        let hasOpened = state.withLock { state in
            let wasOpen = state.breaker.isOpen
            state.breaker.failed(at: now())
            return !wasOpen && state.breaker.isOpen
        }
        guard hasOpened else { return }
        logger.warning(
            "the road engine does not work: answers come without roads",
            metadata: ["reason": "\(failure.name)", "message_id": "\(MessageID.roadsFailing)"])
    }

    /// Why no call may be made now. After a while in trouble, one caller asks for the engine's status.
    private func obstacle(_ deadlines: RoadDeadlines) async -> RoadFailure? {
        let time = now()
        switch state.withLock({ $0.breaker.permission(at: time) }) {
        case .call: return nil
        case .fallBack: return .open
        case .probe: break
        }
        let timeout = max(RoadDeadlines.latest, (deadlines.deadline(at: time) ?? time) - time)
        // A task of its own: a client that goes away does not decide whether the engine works.
        return await Task { await self.probe(within: timeout) }.value
    }

    private func probe(within timeout: Int64) async -> RoadFailure? {
        do throws(RoadFailure) {
            let status = try EngineStatus(try await transport.exchange(.status, within: timeout))
            let time = now()
            state.withLock { state in
                state.breaker.probeSucceeded()
                state.mapTime = status.tilesModified
                state.mapTimeAsked = time
            }
        } catch {
            state.withLock { $0.breaker.probeFailed(at: now()) }
            return .open
        }
        logger.notice("the road engine works again", metadata: ["message_id": "\(MessageID.roadsWorking)"])
        return nil
    }

    // MARK: Several at a time

    /// The results of `work` for 0 ..< `count`, in order. One request has no more calls under way than there are turns.
    private func inParallel<Outcome: Sendable>(
        _ count: Int, _ work: @escaping @Sendable (Int) async -> Outcome
    ) async -> [Outcome] {
        if count == 1 { return [await work(0)] }
        return await withTaskGroup(of: (Int, Outcome).self) { group in
            var outcomes = [Outcome?](repeating: nil, count: count)
            var next = min(settings.concurrency, count)
            for number in 0..<next { group.addTask { (number, await work(number)) } }
            while let (number, outcome) = await group.next() {
                outcomes[number] = outcome
                guard next < count else { continue }
                let following = next
                next += 1
                group.addTask { (following, await work(following)) }
            }
            return outcomes.compactMap(\.self)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}

/// Counts calls of the road engine since the start of the server.
package final class RoadCounters: Sendable {
    package struct Counts: Sendable {
        /// Calls by what became of them: nil for an answer.
        package var calls: [RoadFailure?: UInt64] = [:]
        /// How long calls took that were made.
        package var durations = Histogram()
        /// Answers that were remembered, so that no call was needed.
        package var remembered: UInt64 = 0
        /// Samples of tracks that were matched: on a road, and not.
        package var onRoads: UInt64 = 0
        package var offRoads: UInt64 = 0
    }

    private let state = Mutex(Counts())

    package var counts: Counts { state.withLock { $0 } }

    func called(_ failure: RoadFailure?) { state.withLock { $0.calls[failure, default: 0] += 1 } }

    func lasted(_ milliseconds: Int64) { state.withLock { $0.durations.record(Double(milliseconds) / 1000) } }

    func remembered() { state.withLock { $0.remembered += 1 } }

    func matched(_ track: MatchedTrack) {
        let found = UInt64(track.samples.count { $0.edge != nil })
        state.withLock { counts in
            counts.onRoads += found
            counts.offRoads += UInt64(track.samples.count) - found
        }
    }
}
