internal import AgentControl
internal import AgentLogic
internal import AgentRuntime
internal import DiskRing
internal import Gateway
internal import JSON
internal import NIOCore
internal import TrackModel
internal import TrackTestKit

// What people ask of the agent, and whether it is in the end as they asked.
extension History {
    func command(_ trouble: Profile.Trouble) {
        guard let box, !box.isStopping else { return }
        summary.commands += 1
        let agent = box.agent
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &dice)] }
        switch trouble {
        case .startService:
            let entity = pick(Self.entities)
            watch(agent.startService(entity: entity), box, "start service as \(entity)") { target in
                target.isStarted = true
                target.entity = entity
            }
            // A service alone gathers nothing.
            after(200) { $0.command(.startGather) }
        case .stopService:
            let limit: TimeAmount? = pick([nil, .zero, .seconds(60)])
            watch(agent.stopService(timeout: limit), box, "stop service") { target in
                target.isStarted = false
                target.isGathering = false
            }
            after(Int64.random(in: 15_000...400_000, using: &dice)) { $0.command(.startService) }
        case .startGather:
            watch(agent.startGather(keepTrying: false), box, "start gather") { $0.isGathering = true }
        case .stopGather:
            watch(agent.stopGather(), box, "stop gather") { $0.isGathering = false }
            after(Int64.random(in: 1000...300_000, using: &dice)) { $0.command(.startGather) }
        case .clear: clear(box)
        case .limit:
            change(box, agent.setCacheLimit(pick([.unlimited, .bytes(2 << 20), .bytes(64 << 20), .bytes(5)])))
        case .intervals:
            let gather = pick([2, 3, 5, 7, 10, 30])
            change(box, agent.setIntervals(gather: Int64(gather), pack: Int64(gather * pick([1, 2, 3, 7]))))
            adoptSettings(agent)
        case .location:
            change(
                box,
                agent.setLocationOptions(
                    LocationOptionsChange(
                        [
                            "desired_accuracy": pick([nil, 0, 10, 30]), "distance_filter": pick([nil, 0, 5, 50]),
                            "activity": pick([nil, "other", "automotive", "fitness", "airborne"]),
                            "parking_delay": pick([nil, nil, 0, 60, 120]), "parking_interval": pick([nil, 10, 60]),
                        ].compactMapValues { $0 })))
            adoptSettings(agent)
        case .attributes: changeAttributes(agent)
        case .reset:
            change(box, agent.resetSettings())
            adoptSettings(agent)
        default: _ = agent.reconnect()
        }
    }

    private func changeAttributes(_ agent: Agent) {
        guard !dice.one(in: 4) else {
            let keys = dice.one(in: 2) ? nil : ["fuel", "driver"]
            _ = agent.clearAttributes(keys: keys)
            return attributes.clear(keys)
        }
        var new: [String: AttributeValue] = [:]
        if dice.one(in: 2) { new["fuel"] = .integer(Int64.random(in: -5...100, using: &dice)) }
        if dice.one(in: 2) { new["load"] = .double(Double.random(in: 0...10, using: &dice)) }
        // Long ones fill a segment in minutes.
        if dice.one(in: 2) { new["driver"] = dice.one(in: 2) ? Self.longName : .string("Wei ") }
        if dice.one(in: 3) { new[AttributeModel.unknownKey] = .string("blue") }
        let ttl: Int64? = dice.one(in: 2) ? nil : Int64.random(in: 1...300_000, using: &dice)
        carry(new, agent, ttl: ttl)
    }

    static let longName = AttributeValue.string(String(repeating: "Wei ", count: 250))

    /// From now on each point carries these; `ttl` in milliseconds.
    func carry(_ new: [String: AttributeValue], _ agent: Agent, ttl: Int64?) {
        note("attributes \(new.keys.sorted()), ttl \(ttl.map(String.init) ?? "none") ms")
        _ = agent.setAttributes(new.mapValues(Self.json), ttl: ttl.map { .milliseconds($0) })
        attributes.set(new, expires: ttl.map { now + $0 })
    }

    private static func json(_ value: AttributeValue) -> JSONValue {
        switch value {
        case .integer(let value): .integer(value)
        case .double(let value): .double(value)
        case .string(let value): .string(value)
        }
    }

    private func clear(_ box: AgentBox) {
        var selection = CacheSelection()
        if !dice.one(in: 4) { selection.entities = dice.one(in: 2) ? ["van"] : ["tram", "bus"] }
        if !dice.one(in: 3) { selection.from = trueTime - Int64.random(in: 0...1_200_000, using: &dice) }
        if !dice.one(in: 3) {
            selection.through = (selection.from ?? trueTime) + Int64.random(in: 0...600_000, using: &dice)
        }
        note("clear \(selection)")
        gaps.cleared(selection)
        box.executor.label = .clear(selection)
        let reply = box.agent.clearCache(selection)
        box.executor.label = .other
        reply.assumeIsolated().whenFailure { [unowned self] error in
            // A ring full of clears may refuse one more; nothing else.
            note("clear refused: \(error)")
        }
    }

    private func watch<Reply: DurableReply>(
        _ reply: EventLoopFuture<Reply>, _ box: AgentBox, _ what: String,
        _ change: @escaping (inout CommandedTarget) -> Void
    ) {
        note(what)
        let command = target.asked(change)
        let asked = targetInForce(box)
        reply.assumeIsolated().whenComplete { [unowned self, weak box] result in
            guard let box, self.box === box else { return }
            target.answered(command)
            switch result {
            case .success(let reply):
                note("\(what): done")
                change(&target.told)
                targetChanged(box, isDurable: reply.durable == true, asked: asked)
                if reply.durable == false { summary.slowReplies += 1 }
            case .failure(let error as AgentControlError) where error.code == .notRemembered:
                note("\(what): done, and not remembered")
                summary.refusedStates += 1
                change(&target.told)
                targetChanged(box, isDurable: false, asked: asked)
            case .failure(let error):
                note("\(what): \((error as? AgentControlError)?.code.rawValue ?? "\(error)")")
            }
        }
    }

    /// Milliseconds in which an agent is online once nothing is in its way any more. A link that died without a word is
    /// noticed when a heartbeat stays without an answer, however seldom a parked vehicle makes points. Then the agent waits,
    /// at the longest, and the next try succeeds.
    static let timeToBeOnline: Int64 = {
        let timing = UplinkTiming()
        let heartbeat = Int64(GatewayDeadlines().heartbeatInterval) * 1000
        return heartbeat + timing.acknowledgement + timing.backoff.longest + timing.connect + timing.handshake
            + timing.login
    }()
    /// Milliseconds for which a point waits while the agent is online: the longest pack and the gather interval before it,
    /// as the people of a history set them, and as long again for what an outage left.
    static let longestWait: Int64 = 2 * 310_000

    /// From the healing on: what was asked for last is how it is, as soon as it has to be.
    ///
    /// A connection may have so many bytes left until it is cut. A parked vehicle uses them up minutes after the healing.
    func checkTarget() {
        let due = max(troubledAt, MonotonicTime(network.harmedAt)) + Self.timeToBeOnline
        guard now >= due else { return after(due - now) { $0.checkTarget() } }
        checkTold()
        // What an outage left goes now.
        after(190_000) { history in
            guard max(history.troubledAt, MonotonicTime(history.network.harmedAt)) <= due else {
                return history.checkTarget()
            }
            history.checkWaiting()
            history.after(20_000) { $0.finishGathering() }
        }
    }

    private func checkTold() {
        guard let box, target.open.isEmpty else { return }
        let status = box.agent.status()
        let isStarted = status.service.state != .stopped
        let isGathering = status.gather.state != .stopped
        guard isStarted == target.told.isStarted, isGathering == target.told.isGathering,
            !isStarted || status.service.entity == target.told.entity
        else {
            return fail(
                Violation(
                    guarantee: .liveness,
                    detail: "service \(status.service.state) as \(status.service.entity ?? "nobody"), gathering "
                        + "\(status.gather.state); told last: started \(target.told.isStarted) as \(target.told.entity), "
                        + "gathering \(target.told.isGathering)"))
        }
        guard !isStarted || status.link.state == .online else {
            return fail(
                Violation(
                    guarantee: .liveness,
                    detail: "\(Self.timeToBeOnline / 1000) s after the last trouble the link is \(status.link.state): "
                        + "\(status.reason)"))
        }
    }

    /// Online for long, and points that wait longer than a pack and a try may take.
    private func checkWaiting() {
        guard let box, target.open.isEmpty, box.agent.status().service.state != .stopped else { return }
        let count = box.executor.cache.count
        if let age = ledger.oldestWaiting(at: now, count: count), age > Self.longestWait {
            fail(
                Violation(
                    guarantee: .liveness,
                    detail: "online, and a point has waited for \(age / 1000) s; \(count) wait"))
        }
    }
}
