internal import AgentControl
internal import AgentLogic
internal import Logging
internal import NIOCore
internal import Systemd
internal import TrackCache
internal import TrackModel

// Does what the service's machine decides, and answers the calls that asked for it.
extension Agent {
    func perform(_ actions: [ServiceMachine.Action]) {
        for action in actions {
            switch action {
            case .openFeed: openFeed()
            case .closeFeed: closeFeed()
            case .setGathering(let isOn): setGathering(isOn)
            case .startUplink(let entity):
                uplinkEntity = entity
                lastEntity = entity
                perform(uplink.start(first: snapshot.firstSequence, next: snapshot.nextSequence, now: now))
            case .stopUplink(let milliseconds): stopUplink(within: milliseconds)
            case .setTimer(let timer, let milliseconds):
                setTimer(.service(timer), milliseconds: milliseconds) { agent in
                    agent.perform(agent.service.timerFired(timer))
                }
            case .cancelTimer(let timer): cancelTimer(.service(timer))
            case .persist(let target):
                remembered.target = .init(target)
                remember()
            case .reply(let request, let reply): calls.answer(request, reply, agent: self)
            }
        }
        serviceMayHaveChanged()
    }

    private func setGathering(_ isOn: Bool) {
        if isOn {
            startSampling(entity: lastEntity)
        } else {
            stopSampling()
        }
        log.notice(
            isOn ? "Gathering started" : "Gathering stopped",
            metadata: .event(isOn ? .gatherStarted : .gatherStopped, ["entity": "\(lastEntity)"]))
        onEvent(.gather(gatherStatus))
    }

    private func stopUplink(within milliseconds: Int64) {
        // What gathering made last may still be on its way to the disk: the ring says where the end is.
        let now = now
        let deadline = now + milliseconds
        let accepted = onDisk {
            $0.sync(now: now)
        } then: { [self] in
            perform(uplink.stop(drainThrough: snapshot.nextSequence - 1, deadline: deadline, now: self.now))
        }
        if !accepted { perform(uplink.stop(drainThrough: 0, deadline: now, now: now)) }
    }

    /// Says what became of the service, once for each change.
    func serviceMayHaveChanged() {
        let status = serviceStatus
        guard status.state != toldService else { return }
        let before = toldService
        toldService = status.state
        serviceSince = systemTime
        switch status.state {
        case .starting where before != .running, .running where before != .starting:
            log.notice("Service started", metadata: .event(.serviceStarted, ["entity": "\(lastEntity)"]))
        case .stopped: log.notice("Service stopped", metadata: .event(.serviceStopped, ["entity": "\(lastEntity)"]))
        case .starting, .running, .stopping: break
        }
        onEvent(.service(serviceStatus))
    }
}

/// Control calls that wait for a machine's answer.
struct PendingCalls {
    private var next: UInt64 = 1
    private var waiting: [RequestID: (ServiceReply, Agent) -> Void] = [:]

    /// A number for a call; `answer` is called once, when the machine has decided.
    mutating func add(_ answer: @escaping (ServiceReply, Agent) -> Void) -> RequestID {
        let request = RequestID(rawValue: next)
        next += 1
        waiting[request] = answer
        return request
    }

    mutating func answer(_ request: RequestID, _ reply: ServiceReply, agent: Agent) {
        waiting.removeValue(forKey: request)?(reply, agent)
    }
}
