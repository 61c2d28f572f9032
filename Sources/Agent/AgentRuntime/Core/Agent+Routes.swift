internal import AgentControl
internal import AgentLogic
internal import AlarmLog
internal import LocalFences
internal import TrackModel
internal import TrackWire

// Passes each effect of a shell on to the shell for which it is an event. One function for each shell. Decides nothing.
extension Agent {
    func route(_ effect: SettingsShell.Effect) {
        switch effect {
        case .remember(let settings): durableState.remember(settings)
        case .keepAlive(let keepAlive): service.keepAliveChanged(keepAlive)
        case .gatherInterval(let seconds): gathering.setInterval(seconds)
        case .location(let options): gathering.setOptions(options)
        case .intervals(let gather, let pack): link.intervalsChanged(gather: gather, pack: pack)
        case .cacheLimit(let bytes): cache.setLimit(bytes)
        }
    }

    func route(_ effect: ServiceShell.Effect) {
        switch effect {
        case .openFeed: gathering.openFeed()
        case .closeFeed: gathering.closeFeed()
        case .startGathering(let entity):
            serverFences.runs(as: entity, service: configuration.service.id.rawValue)
            fenceShell.started(entity: entity, service: configuration.service.id.rawValue)
            gathering.start(entity: entity)
        case .stopGathering(let entity, let cause):
            gathering.stop(entity: entity, by: cause)
            fenceShell.stopped()
            perform(missingPoints.gatheringStopped())
        case .startLink(let entity):
            serverFences.runs(as: entity, service: configuration.service.id.rawValue)
            link.start(entity: entity)
        case .changeLink(let entity, let atOnce):
            serverFences.runs(as: entity, service: configuration.service.id.rawValue)
            link.changed(entity: entity, atOnce: atOnce)
        case .logInNow: link.logInNow()
        case .stopLink(let milliseconds): link.stop(within: milliseconds)
        case .remember(let target, let cause): durableState.remember(target, stoppedBy: cause)
        case .changed: announce(.service(service.status))
        }
    }

    func route(_ effect: GatheringShell.Effect) {
        switch effect {
        case .reportArrived: link.reportArrived()
        case .fixArrived(let time): link.fixArrived(time)
        case .disproved(let dates): cache.disprove(dates)
        case .gathered(let point, let entity): attributeShell.gathered(point, entity: entity)
        case .passed(let fix, _): fenceShell.passed(fix, floor: attributeShell.floor)
        case .samplingEnds: attributeShell.flush()
        case .gapIs(let gap): durableState.remember(gap)
        case .gapEnded: durableState.forgetGap()
        case .locationChanged(let location): service.locationChanged(location)
        case .feedChanged:
            link.healthMayHaveChanged()
            announce(.feed(gathering.feedStatus))
        case .gatherChanged:
            link.healthMayHaveChanged()
            announce(.gather(gatherStatus))
        case .pointsMissing(let areMissing):
            perform(missingPoints.changed(areMissing: areMissing, now: context.now))
            link.healthMayHaveChanged()
            announce(.gather(gatherStatus))
        }
    }

    func route(_ effect: AttributeShell.Effect) {
        switch effect {
        case .ready(let point, let entity): cache.append(point, entity: entity)
        case .columnsLearned(let columns): durableState.remember(columns, of: configuration.service.id)
        }
    }

    func route(_ effect: CacheShell.Effect) {
        switch effect {
        case .ringIs(let ends):
            serverFences.ringBegins(
                at: cache.snapshot.firstTime(of: serverFences.entity), files: cache.snapshot.filesBegun)
            link.ringIs(ends)
        case .changed:
            link.healthMayHaveChanged()
            announce(.cache(cacheStatus))
        case .lost(let lost):
            link.healthMayHaveChanged()
            earlyAlarms.pointsWereLost()
            announce(.loss(LossReport(lost: lost)))
        case .cleared: earlyAlarms.pointsWereLost()
        case .appended(let point, let entity, let sequence):
            gathering.appended(point)
            serverFences.appended(
                point, entity: entity, cause: PointCause(stream: cache.snapshot.stream, sequence: sequence))
            link.appended(point, entity: entity, sequence: sequence)
        case .confirmed(let id, let confirmation): link.cacheConfirmed(id, confirmation)
        case .batchRead(let id, let reading): link.batchRead(id, reading)
        case .settled(let deadline, let isDone): link.cacheSettled(before: deadline, isDone: isDone)
        }
    }

    func route(_ effect: LinkShell.Effect) {
        switch effect {
        case .stateChanged(let state):
            announce(.connection(link.status))
            requests.linkChanged(state)
            if state != .online {
                serverFences.linkClosed()
                earlyAlarms.linkClosed()
            }
            service.linkChanged(state)
        case .finished(let isDrained): service.linkStopped(isDrained: isDrained)
        case .confirm(let id, let storedThrough, let stream):
            cache.confirm(id, storedThrough: storedThrough, of: stream)
        case .read(let id, let limits): cache.read(id, limits)
        case .acknowledge(let sequence, let stream):
            earlyAlarms.acknowledged(through: sequence, of: stream)
            cache.acknowledge(through: sequence, of: stream)
        case .settleCache(let deadline): cache.settle(before: deadline)
        case .welcomed(let columns, let serverTime):
            attributeShell.learn(columns)
            alarmShell.forgetOld(serverTime: serverTime)
        case .replied(let number, let kind, let message): requests.answered(number, kind, message)
        case .pushed(let push, let entity): alarmShell.take(push, entity: entity)
        case .opened(let takesFences, let storedThrough, let acknowledged, let stream):
            serverFences.loggedIn(isSent: takesFences)
            earlyAlarms.loggedIn(
                as: link.entity, of: link.serviceNumber, takesReports: takesFences, storedThrough: storedThrough,
                acknowledged: acknowledged, stream: stream)
        case .fenceUpdate(let update): serverFences.take(update)
        case .reportAnswered(let answer): earlyAlarms.answered(answer)
        case .refusedPoints(let sequences, let stream): earlyAlarms.refused(sequences, of: stream)
        }
    }

    func route(_ effect: RequestShell.Effect) {
        switch effect {
        case .send(let frame): link.send(request: frame)
        case .probeLink: link.answerOverdue()
        }
    }

    func route(_ effect: AlarmShell.Effect) {
        switch effect {
        case .came(let push): earlyAlarms.came(push)
        case .acknowledge(let id):
            link.acknowledge(push: id)
            earlyAlarms.acknowledged(push: id)
        case .arrived(let alarm):
            serverFences.heard(push: alarm.content.id)
            onChange(.alarm(AlarmReport(alarm)))
            hooks.arrived(alarm)
        case .recalled(let alarms, let isAll): hooks.recalled(alarms, isAll: isAll)
        case .confirmed(let alarm): earlyAlarms.confirmed(alarm)
        case .cameAfterDrop(let alarm): earlyAlarms.cameAfterDrop(alarm)
        case .heard(let push): earlyAlarms.heard(push)
        case .hooksSettled(let alarm): hooks.settled(alarm)
        }
    }

    func route(_ effect: ServerFenceShell.Effect) {
        switch effect {
        case .alarm(let effect): route(effect)
        case .judged(let versions): link.judged(by: versions)
        case .found(let alarms): earlyAlarms.found(alarms)
        case .request(let request): link.send(fences: .fenceRequest(request))
        }
    }

    func route(_ effect: EarlyAlarmShell.Effect) {
        switch effect {
        case .send(let report): link.send(fences: .alarmUpload(report))
        }
    }

    func route(_ effect: FenceAlarmPublisher.Effect) {
        switch effect {
        case .told(let report): onChange(.alarm(report))
        case .hooksDue(let alarm): hooks.arrived(alarm)
        case .hooksDueOnce(let report): hooks.heard(report)
        case .hooksSettled(let alarm):
            hooks.settled(alarm)
            alarmShell.finishHooks(of: alarm)
        case .journalIs(let snapshot):
            alarmShell.journalIs(snapshot)
            earlyAlarms.journalIs(snapshot)
        }
    }

    func route(_ effect: HookShell.Effect) {
        switch effect {
        case .finished(let alarm): alarmShell.finishHooks(of: alarm)
        case .recall(let limit, let known): alarmShell.recall(limit: limit, without: known)
        }
    }

    /// Reports a change to the clients of `Monitor` and to the hooks.
    private func announce(_ change: AgentEvent.Change) {
        onChange(change)
        hooks.happened(change)
    }
}
