internal import AgentControl
internal import AgentLogic
internal import ConfigurationFile
internal import Logging
internal import NIOCore
internal import SecureLink
internal import Systemd
internal import TrackCache
internal import TrackModel
internal import TrackWire

/// One link and the handler that speaks on it.
struct Link {
    let id: LinkID
    let channel: any Channel
    let handler: FrameHandler
}

// Does what the uplink's machine decides.
extension Agent {
    func perform(_ actions: [UplinkMachine.Action]) {
        for action in actions {
            switch action {
            case .connect(let id): connect(id)
            case .sendHello: sendHello()
            case .confirmCache(let id, let storedThrough): confirm(id, storedThrough)
            case .read(let id, let after, let points, let bytes):
                read(id, after: after, maximumPoints: points, maximumBytes: bytes)
            case .sendUpload(let id, let first, let count): sendUpload(id, first: first, count: count)
            case .discard(let id): prepared[id] = nil
            case .acknowledgeCache(let sequence): acknowledge(through: sequence)
            case .sendHeartbeat: send(.heartbeat(Heartbeat()))
            case .sendNewest: sendNewest()
            case .sendGoodbye: send(.goodbye(Goodbye()))
            case .closeLink(let id): closeLink(id)
            case .serverAhead(let sequence):
                log.warning("Server claims points that were never sent", metadata: ["through": "\(sequence)"])
            case .setTimer(let timer, let milliseconds):
                setTimer(.uplink(timer), milliseconds: milliseconds) { agent in
                    agent.perform(agent.uplink.timerFired(timer, now: agent.now))
                }
            case .cancelTimer(let timer): cancelTimer(.uplink(timer))
            case .report(let state): linkChanged(state)
            case .finished(let isDrained): perform(service.uplinkStopped(drained: isDrained))
            }
        }
    }

    // MARK: The link

    private func connect(_ id: LinkID) {
        wantedLink = id
        let agent = NIOLoopBound(self, eventLoop: loop)
        let server = configuration.server
        let clock = surroundings.clock.read()
        tellClock(clock)
        let judged = trustedTime.judgedTime(now: now, systemClock: clock)
        let handler = NIOLoopBound(FrameHandler { event in agent.value.linkSaid(event, id) }, eventLoop: loop)
        surroundings.connector.connect(to: server, verificationTime: judged.seconds, on: loop) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(handler.value)
            }
        }
        .assumeIsolated()
        .whenComplete { [self] result in
            switch result {
            case .success(let channel):
                guard wantedLink == id else {
                    // The machine has given this attempt up; there may be another link already.
                    handler.value.detach()
                    channel.close(promise: nil)
                    return
                }
                link = Link(id: id, channel: channel, handler: handler.value)
                perform(uplink.connected(id, now: now))
            case .failure(let error):
                // What became of an attempt that was given up says nothing about the present one.
                guard wantedLink == id else { return }
                perform(uplink.connectFailed(id, trouble(error, judged), now: now))
            }
        }
    }

    private func closeLink(_ id: LinkID) {
        if wantedLink == id { wantedLink = nil }
        guard let link, link.id == id else { return }
        self.link = nil
        prepared = [:]
        link.handler.detach()
        // What was written before leaves first; the link's own limits bound how long that may take.
        link.channel.close(promise: nil)
    }

    func send(_ message: ClientFrame.OneOf_Message) {
        guard let link else { return }
        link.channel.writeAndFlush(ByteBuffer(bytes: WireCodec.encode(ClientFrame(message))), promise: nil)
    }

    private func linkSaid(_ event: FrameHandler.Event, _ id: LinkID) {
        switch event {
        case .frame(let frame): received(frame, id)
        case .arriving: uplink.frameArriving(id, now: now)
        case .violation(let error):
            perform(uplink.protocolViolated(id, reason: "the server broke the protocol: \(error.detail)", now: now))
        case .closed(let error):
            // While connecting, the connection attempt itself tells the reason.
            guard let link, link.id == id else { return }
            self.link = nil
            prepared = [:]
            let trouble = error.map { LinkTrouble($0) } ?? LinkTrouble(.network, "the server closed the connection")
            perform(uplink.linkClosed(id, trouble, now: now))
        }
    }

    private func received(_ frame: ServerFrame, _ id: LinkID) {
        switch frame.message {
        case .welcome(let welcome):
            linkWatch.session = String(welcome.session)
            // A server may say any number.
            let (difference, isAbsurd) = welcome.serverTime.subtractingReportingOverflow(systemTime.milliseconds)
            linkWatch.serverClockDifference = isAbsurd || welcome.serverTime == 0 ? nil : difference
            // 0 says nothing: a server from before there were two.
            serverPayloadFormat = Int(clamping: max(welcome.payloadFormat, 1))
            learnColumns(welcome.trackColumns)
            forgetOldAlarms(serverTime: welcome.serverTime)
            perform(
                uplink.welcome(
                    id, storedThrough: welcome.storedThrough, heartbeatSeconds: welcome.heartbeatInterval,
                    limits: UplinkLimits(
                        batchPoints: welcome.limits.batchPoints, windowBatches: welcome.limits.windowBatches,
                        windowBytes: welcome.limits.windowBytes), now: now))
        case .refused(let refused):
            perform(uplink.refused(id, LinkTrouble(refused), retryAfterSeconds: refused.retryAfter, now: now))
        case .uploadAck(let acknowledgement):
            noteRefused(acknowledgement)
            perform(uplink.uploadAcknowledged(id, through: acknowledgement.storedThrough, now: now))
        case .closing(let closing):
            let reason = "the server closes: \(closing.reason.isEmpty ? "no reason given" : closing.reason)"
            perform(uplink.closing(id, reason: reason, retryAfterSeconds: closing.retryAfter, now: now))
        case .pointsReply(let reply):
            perform(uplink.frameReceived(id, now: now))
            answered(reply.id, .points, .pointsReply(reply))
        case .callReply(let reply):
            perform(uplink.frameReceived(id, now: now))
            answered(reply.id, .call, .callReply(reply))
        case .push(let push):
            perform(uplink.frameReceived(id, now: now))
            take(push)
        case .heartbeat, nil: perform(uplink.frameReceived(id, now: now))
        }
    }

    private func noteRefused(_ acknowledgement: UploadAck) {
        guard let first = acknowledgement.refused.first else { return }
        tally.refused += UInt64(acknowledgement.refused.count)
        log.warning(
            "Server refused points",
            metadata: ["count": "\(acknowledgement.refused.count)", "first_reason": "\(first.reason)"])
    }

    // MARK: Session

    private func sendHello() {
        var hello = Hello()
        hello.protocol = WireLimits.protocolVersion
        hello.serviceID = configuration.service.id.rawValue
        hello.ak = configuration.service.accessKey.revealed
        hello.appCode = configuration.service.applicationCode?.revealed ?? ""
        hello.entity = uplinkEntity
        hello.agentVersion = SakerVersion.text
        hello.streamID = snapshot.stream
        hello.firstSequence = snapshot.firstSequence
        hello.nextSequence = snapshot.nextSequence
        helloStream = snapshot.stream
        send(.hello(hello))
    }

    private func confirm(_ id: LinkID, _ storedThrough: UInt64) {
        let now = now
        let stream = helloStream
        let accepted = onDisk { cache in
            if cache.streamID == stream { cache.confirm(serverStoredThrough: storedThrough, now: now) }
        } then: { [self] in
            perform(
                uplink.cacheConfirmed(
                    id, first: snapshot.firstSequence, next: snapshot.nextSequence,
                    isNewStream: snapshot.stream != stream, now: self.now))
        }
        if !accepted {
            perform(
                uplink.closing(id, reason: "the disk hangs: the cache cannot be read", retryAfterSeconds: 0, now: now))
        }
    }

    private func read(_ id: ReadID, after: UInt64, maximumPoints: Int, maximumBytes: Int) {
        let now = now
        let format = serverPayloadFormat
        let accepted = onDisk { cache in
            UploadReader.next(
                in: cache, after: after, maximumPoints: maximumPoints, maximumBytes: maximumBytes, format: format,
                now: now)
        } then: { [self] reading in
            perform(uplink.batchRead(id, keep(reading, as: id), now: self.now))
        }
        if !accepted { perform(uplink.batchRead(id, .unreadable, now: now)) }
    }

    /// Keeps what was read until it is sent; returns what the machine is to know of it.
    private func keep(_ reading: UploadReader.Reading, as id: ReadID) -> UplinkMachine.ReadOutcome {
        switch reading {
        case .nothing(let undecodable):
            tally.undecodable += undecodable
            return .nothing
        case .postponed(let undecodable):
            tally.undecodable += undecodable
            return .unreadable
        case .batch(let found):
            tally.undecodable += found.undecodable
            guard found.stream == helloStream else { return .nothing }
            prepared[id] = found
            return .batch(first: found.firstSequence, count: found.batch.count, bytes: found.batch.bytes.count)
        }
    }

    /// Ahead of the backlog, for whoever looks at the map now; as a track point it comes in its turn.
    private func sendNewest() {
        guard let newest, newest.entity == uplinkEntity else { return }
        var point = newest.point
        var bytes = PointRecord.encode(point, format: serverPayloadFormat)
        if bytes.count > WireLimits.newestPointBytes {
            // Long texts are worth no delay.
            point.attributes = [:]
            bytes = PointRecord.encode(point, format: serverPayloadFormat)
        }
        var heartbeat = Heartbeat()
        heartbeat.newestPointBytes = bytes
        send(.heartbeat(heartbeat))
    }

    private func sendUpload(_ id: ReadID, first: UInt64, count: Int) {
        guard let upload = prepared.removeValue(forKey: id) else { return }
        send(
            .upload(
                Upload(upload.batch, firstSequence: first, entity: upload.entity == uplinkEntity ? "" : upload.entity)))
    }

    private func acknowledge(through sequence: UInt64) {
        guard let stream = helloStream else { return }
        let now = now
        // When the disk's queue is full the acknowledgement is forgotten: the server will recognise what comes again.
        onDisk { cache in
            cache.acknowledge(through: sequence, of: stream, now: now)
        }
    }

    /// Any operation can end with another stream to upload, a return to the disk above all: it takes another login.
    func followStream() {
        guard let stream = helloStream, snapshot.stream != stream else { return }
        helloStream = nil
        perform(uplink.streamChanged(first: snapshot.firstSequence, next: snapshot.nextSequence, now: now))
    }

    // MARK: How it is

    private func linkChanged(_ state: LinkState) {
        let isNews = linkWatch.change(state, now: now, at: systemTime)
        switch state {
        case .online:
            log.notice("Link online", metadata: .event(.linkOnline, ["session": "\(linkWatch.session ?? "")"]))
        case .waiting(_, let trouble) where isNews:
            log.warning("Link lost", metadata: .event(.linkLost, ["reason": "\(trouble.reason)"]))
        case .refused(_, let trouble) where isNews:
            log.error("Login refused", metadata: .event(.loginRefused, ["reason": "\(trouble.reason)"]))
        case .closed, .connecting, .handshaking, .loggingIn, .waiting, .refused, .closing: break
        }
        followTime(state)
        onEvent(.connection(linkStatus))
        requestsFollow(state)
        perform(service.uplinkChanged(state))
        serviceMayHaveChanged()
    }
}

extension LinkTrouble {
    /// What went wrong while a link was made, or ended it.
    ///
    /// `isConnecting`: it did not come to a verified server.
    init(_ error: any Error, isConnecting: Bool = false) {
        guard let error = error as? SecureLinkError else {
            self.init(.network, "the connection failed: \(error)")
            return
        }
        let kind: Kind
        switch error.code {
        case .connectTimeout, .handshakeTimeout, .peerSilent: kind = .timeout
        case .clientCertificateRefused, .certificateExpired, .certificateUntrusted, .certificateWrongName, .pinMismatch:
            kind = .authentication
        case .notTLS, .plainHTTP, .signInPage, .foreignServer, .protocolVersion, .alpnMismatch, .certificateNotYetValid:
            kind = .tls
        case .configuration, .pinRefused: kind = .parameter
        case .nameResolution, .connectRefused, .networkUnreachable, .closedByPeer, .reset, .sendBufferFull, .cancelled,
            .other:
            kind = .network
        }
        let isCut = isConnecting && (error.code == .closedByPeer || error.code == .reset)
        self.init(kind, error.detail, cause: isCut ? .handshakeCut : .init(error.code))
    }

    init(_ refused: Refused) {
        let reason = refused.reason.isEmpty ? "the server refused the login" : refused.reason
        switch refused.code {
        case .authentication: self.init(.authentication, reason, cause: .keyRefused)
        case .service: self.init(.authentication, reason, cause: .serviceUnknown)
        case .parameter: self.init(.parameter, reason, cause: .parameterRefused)
        case .protocol: self.init(.protocolViolation, reason)
        case .busy, .internal, .unspecified, .UNRECOGNIZED: self.init(.server, reason)
        }
    }
}

extension LinkTrouble.Cause {
    /// Nil for what nobody can mend but the passing of time.
    init?(_ code: SecureLinkError.Code) {
        switch code {
        case .nameResolution: self = .nameResolution
        case .connectTimeout: self = .connectTimeout
        case .connectRefused: self = .connectRefused
        case .networkUnreachable: self = .networkUnreachable
        case .notTLS: self = .notTLS
        case .plainHTTP: self = .plainHTTP
        case .signInPage: self = .signInPage
        case .foreignServer: self = .foreignServer
        case .handshakeTimeout: self = .handshakeTimeout
        case .protocolVersion: self = .protocolVersion
        case .alpnMismatch: self = .protocolMismatch
        case .certificateExpired: self = .certificateExpired
        case .certificateNotYetValid: self = .certificateNotYetValid
        case .certificateUntrusted: self = .certificateUntrusted
        case .certificateWrongName: self = .certificateWrongName
        case .pinMismatch: self = .pinMismatch
        case .clientCertificateRefused: self = .clientCertificateRefused
        case .closedByPeer, .reset, .peerSilent, .sendBufferFull, .cancelled, .configuration, .pinRefused, .other:
            return nil
        }
    }
}

/// The link as people are told of it.
struct LinkWatch {
    var state = LinkState.closed
    var since: SystemTime
    var session: String?
    var lastError: String?
    var lastErrorCause: LinkTrouble.Cause?
    /// Milliseconds that the server's clock was ahead of this machine's at the last login; negative: behind.
    var serverClockDifference: Int64?
    var nextTry: SystemTime?
    /// Since when there has been no session, also by the machine's clock (milliseconds); nil while there is one, and
    /// while none is wanted.
    var offline: (since: SystemTime, at: MonotonicTime)?

    init(since: SystemTime) {
        self.since = since
    }

    /// False when the same trouble goes on: it is said once, not at each try.
    mutating func change(_ new: LinkState, now: MonotonicTime, at time: SystemTime) -> Bool {
        let before = lastError
        if state != new { since = time }
        state = new
        nextTry = nil
        switch new {
        case .online, .closed: offline = nil
        case .connecting, .handshaking, .loggingIn, .waiting, .refused: offline = offline ?? (time, now)
        case .closing: break
        }
        switch new {
        case .online: (lastError, lastErrorCause) = (nil, nil)
        case .waiting(let until, let trouble), .refused(let until, let trouble):
            (lastError, lastErrorCause) = (trouble.reason, trouble.cause)
            session = nil
            nextTry = SystemTime(milliseconds: time.milliseconds + max(0, until - now))
        case .closed:
            session = nil
            (lastError, lastErrorCause) = (nil, nil)
        case .connecting, .handshaking, .loggingIn, .closing: break
        }
        return lastError != before
    }
}
