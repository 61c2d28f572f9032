import Ingest
import Logging
import NIOCore
import Systemd
import TrackModel
import TrackStore
import TrackWire

extension GatewayConnection {
    // MARK: Login

    /// The first frame of a connection.
    func greet(_ frame: ClientFrame) throws(ProtocolViolation) {
        guard case .hello(let hello)? = frame.message else {
            throw ProtocolViolation("the first frame must be a hello")
        }
        guard let context else { return }
        let request: LoginRequest
        do {
            request = try LoginRules.check(hello)
        } catch {
            return refuse(error, entity: hello.entity)
        }
        let number = core.registry.makeNumber()
        self.number = number
        phase = .login(request)
        schedule(core.deadlines.login)
        let link = SessionLink(number: number, connection: self, eventLoop: context.eventLoop)
        let core = core
        start { () async -> @Sendable (GatewayConnection) -> Void in
            let result: Result<Admission, LoginRefusal>
            do throws(LoginRefusal) {
                result = .success(try await Login.admit(request, to: core.store, at: core.now()))
            } catch {
                result = .failure(error)
            }
            return { $0.loggedIn(result, link: link) }
        }
    }

    private func loggedIn(_ result: Result<Admission, LoginRefusal>, link: SessionLink) {
        guard case .login(let request) = phase, context != nil else { return }
        guard !core.census.isClosed else {
            return refuse(LoginRefusal(.busy, "the server stops or restarts", retryAfter: 5), entity: request.entity)
        }
        let admission: Admission
        switch result {
        case .failure(let refusal): return refuse(refusal, entity: request.entity)
        case .success(let admitted): admission = admitted
        }
        let now = core.now()
        let info = SessionInfo(
            number: link.number, service: request.service, entity: request.entity, address: address,
            agentVersion: request.agentVersion, began: now, newestPoint: nil)
        let former = core.registry.add(info, stream: request.stream, link: link)
        former?.perform {
            $0.end(.replaced, "a newer connection logged in with the same stream", retryAfter: 60)
        }
        let rules = UploadRules(
            service: request.service, entity: request.entity, stream: request.stream, limits: core.limits,
            columns: admission.columns.types)
        claims = SessionClaims(
            request.stream, of: EntityKey(service: request.service, name: request.entity), admission.claim)
        open(OpenSession(rules: rules, link: link))
        core.counters.add(to: \.logins)
        core.logger.info("login", metadata: metadata(["agent_version": "\(request.agentVersion)"]))

        var welcome = Welcome()
        welcome.session = link.number
        welcome.serverTime = now.milliseconds
        welcome.storedThrough = admission.claim.storedThrough
        welcome.trackColumns = admission.columns.map(TrackColumn.init)
        welcome.heartbeatInterval = UInt32(clamping: core.deadlines.heartbeatInterval)
        welcome.limits.batchPoints = UInt32(clamping: core.limits.batchPoints)
        welcome.limits.windowBatches = UInt32(clamping: core.limits.windowBatches)
        welcome.limits.windowBytes = UInt32(clamping: core.limits.windowBytes)
        welcome.payloadFormat = UInt32(WireLimits.payloadFormat)
        send(ServerFrame(.welcome(welcome)))
        pushesMayWait()
        resume()
    }

    private func refuse(_ refusal: LoginRefusal, entity: String) {
        core.counters.refused(refusal.code)
        core.logger.notice(
            "login refused",
            metadata: metadata([
                "reason": "\(refusal.reason)", "entity": "\(entity.prefix(128))",
                "message_id": "\(MessageID.sessionRefused)",
            ]))
        send(refusal.frame)
        close()
    }

    // MARK: Frames of an open session

    func take(_ frame: ClientFrame, in session: OpenSession) throws(ProtocolViolation) {
        switch frame.message {
        case .upload(let upload)?: try take(.upload(upload), in: session)
        case .points(let points)?: try take(.points(points), in: session)
        case .call(let call)?: take(call, in: session)
        case .heartbeat(let heartbeat)?: try take(heartbeat, in: session)
        case .pushAck(let acknowledgement)?: take(acknowledgement, in: session)
        case .goodbye?: close()
        case .hello?: throw ProtocolViolation("a second hello on one connection")
        case nil: throw ProtocolViolation("a frame of an unknown kind")
        }
    }

    /// Claims the entity and reserves memory before the payload is decoded; without them the frame is held and nothing is
    /// read.
    func take(_ frame: HeldFrame, in session: OpenSession) throws(ProtocolViolation) {
        if case .upload(let upload) = frame {
            let entity = try session.rules.entity(of: upload)
            switch claims?.step(for: entity, isIdle: window.hasNoBatch) {
            case .submit?: break
            case .wait?, nil:
                held = frame
                return
            case .open?:
                held = frame
                return open(session.rules.stream, of: entity)
            }
        }
        let claimed: (bytes: Int, points: Int) =
            switch frame {
            case .upload(let upload): (upload.payload.count, Int(upload.count))
            case .points(let points): (points.payload.count, Int(points.count))
            }
        let cost = IngestJob.cost(payloadBytes: claimed.bytes, points: min(claimed.points, core.limits.batchPoints))
        guard core.ingest.reserve(cost, for: session.link) else {
            held = frame
            return
        }
        do {
            try submit(frame, payloadBytes: claimed.bytes, cost: cost, in: session)
        } catch {
            core.ingest.cancel(cost)
            throw error
        }
    }

    /// Claims another entity than the Hello's for this session.
    private func open(_ stream: StreamID, of entity: EntityKey) {
        let core = core
        start { () async -> @Sendable (GatewayConnection) -> Void in
            let result: Result<StreamClaim, TrackStoreError>
            do throws(TrackStoreError) {
                result = .success(
                    try await core.store.openStream(stream, of: entity.name, in: entity.service, at: core.now()))
            } catch {
                result = .failure(error)
            }
            return { connection in
                switch result {
                case .success(let claim):
                    connection.claims?.opened(claim)
                    connection.resume()
                case .failure(let error):
                    core.logger.error("store cannot open a stream", metadata: ["reason": "\(error.detail)"])
                    connection.fail(IngestFailure(error))
                }
            }
        }
    }

    private func submit(
        _ frame: HeldFrame, payloadBytes: Int, cost: Int, in session: OpenSession
    ) throws(ProtocolViolation) {
        var checked: CheckedBatch
        let submission: Submission
        switch frame {
        case .upload(let upload):
            checked = try session.rules.check(upload, at: core.now())
            checked.batch.position = claims?.position(
                of: try session.rules.entity(of: upload), first: upload.firstSequence, count: upload.count)
            submission = .upload(refusals: checked.refusals)
        case .points(let points):
            do {
                checked = try session.rules.check(points, at: core.now())
            } catch {
                core.ingest.cancel(cost)
                return send(Acknowledgement.refusal(id: points.id, error: error.reason))
            }
            submission = .points(id: points.id, stored: checked.batch.points.count, refusals: checked.refusals)
            guard !checked.batch.points.isEmpty else {
                core.counters.add(UInt64(checked.refusals.count), to: \.refusedPoints)
                core.ingest.cancel(cost)
                return send(Acknowledgement.reply(id: points.id, stored: 0, refusals: checked.refusals))
            }
        }
        if !checked.refusals.isEmpty {
            core.counters.add(UInt64(checked.refusals.count), to: \.refusedPoints)
            let first = checked.refusals.first?.reason ?? ""
            core.logger.info(
                "points refused",
                metadata: metadata(["count": "\(checked.refusals.count)", "first_reason": "\(first)"]))
        }
        if let key = checked.ignoredKeys.min() {
            core.counters.add(to: \.batchesWithIgnoredAttributes)
            // Once a session: a program on a vehicle may give the same one with every point.
            if !hasToldIgnored {
                hasToldIgnored = true
                core.logger.info(
                    "attributes ignored: no track column, or of another type",
                    metadata: metadata(["count": "\(checked.ignoredKeys.count)", "first_key": "\(key)"]))
            }
        }
        let ticket = window.submitted(submission, bytes: payloadBytes)
        core.ingest.submit(IngestJob(owner: session.link, ticket: ticket, batch: checked.batch, cost: cost))
    }

    private func take(_ heartbeat: Heartbeat, in session: OpenSession) throws(ProtocolViolation) {
        let bytes = heartbeat.newestPointBytes
        if !bytes.isEmpty { hint(try session.rules.checkNewest(bytes), in: session) }
        send(ServerFrame(.heartbeat(Heartbeat())))
    }

    /// Takes the newest point of a heartbeat: at most one is with the writer and one waits, whatever comes.
    private func hint(_ point: TrackPoint, in session: OpenSession) {
        guard PointRules.problem(with: point, at: core.now()) == nil else {
            core.counters.add(to: \.refusedHints)
            return
        }
        core.registry.note(point, of: session.link.number)
        guard !isStoringHint else {
            waitingHint = point
            return
        }
        let cost = IngestJob.cost(payloadBytes: 0, points: 1)
        // With the store behind there will be another soon; uploads go first.
        guard core.ingest.reserve(cost, for: session.link) else { return }
        isStoringHint = true
        let batch = IngestBatch(
            service: session.rules.service, entity: session.rules.entity, position: nil, points: [], sequences: [],
            payload: nil, received: core.now(), hint: point)
        let ticket = window.submitted(.newest, bytes: 0)
        core.ingest.submit(IngestJob(owner: session.link, ticket: ticket, batch: batch, cost: cost))
    }

    private func hintStored() {
        isStoringHint = false
        guard case .open(let session) = phase, let waiting = waitingHint else { return }
        waitingHint = nil
        hint(waiting, in: session)
    }

    // MARK: Answers

    /// A transaction has ended.
    func settled(_ jobs: [SettledJob]) {
        let settled = jobs.compactMap { job in
            window.settled(job.ticket).map { (submission: $0, result: job.result) }
        }
        for (submission, _) in settled where submission == .newest { hintStored() }
        guard case .open = phase else {
            // A failure after the end must not leave its mark behind.
            if let number { core.ingest.forget(.session(number)) }
            return
        }
        let (messages, failure) = Acknowledgement.messages(for: settled)
        for message in messages { send(message) }
        if let failure { fail(failure) } else { resume() }
    }

    private func fail(_ failure: IngestFailure) {
        switch failure {
        case .busy: end(.busy, "the store cannot take points now", retryAfter: core.deadlines.busyRetryAfter)
        case .unknownService: end(.internal, "the service does not exist any more", retryAfter: 300)
        case .replaced:
            end(
                .replaced, "a newer connection logged in with the same stream, or the entity was deleted",
                retryAfter: 60)
        case .rewound:
            end(.busy, "the store has lost points: log in again", retryAfter: core.deadlines.busyRetryAfter)
        case .failed: end(.internal, "the store failed; the server's log says why", retryAfter: 60)
        }
    }

    // MARK: Tasks

    /// Runs work off the event loop, then what it returned back on it. Owned by the connection: cancelled at its end.
    func start(_ work: @escaping @Sendable () async -> @Sendable (GatewayConnection) -> Void) {
        guard let context else { return }
        let id = nextTask
        nextTask &+= 1
        let eventLoop = context.eventLoop
        let connection = NIOLoopBound(self, eventLoop: eventLoop)
        tasks[id] = Task(executorPreference: core.tasks.executor) {
            let after = await work()
            eventLoop.execute {
                connection.value.tasks[id] = nil
                after(connection.value)
            }
        }
    }
}
