import Crypto
import Enrolment
import Logging
import Synchronization
import Systemd
import TrackModel
import TrackStore

/// Answers claims and renewals: checks the limits, changes the store, signs, and writes the outcome into the journal.
final class EnrolmentService: EnrolmentResponder {
    private let store: any EnrolmentStore
    private let place: EnrolmentIssuer
    private let counters: EnrolmentCounters
    private let journal: EnrolmentJournal
    private let now: @Sendable () -> Timestamp
    private let clock: @Sendable () -> MonotonicTime
    private let signer: DeviceSigner
    private let limits: Mutex<EnrolmentLimits>
    private let challenge = RenewalChallenge()

    init(
        store: any EnrolmentStore, place: EnrolmentIssuer, counters: EnrolmentCounters, logger: Logger,
        now: @escaping @Sendable () -> Timestamp, clock: @escaping @Sendable () -> MonotonicTime,
        limits: EnrolmentLimits = EnrolmentLimits(), signer: DeviceSigner = DeviceSigner()
    ) {
        self.store = store
        self.place = place
        self.counters = counters
        self.now = now
        self.clock = clock
        journal = EnrolmentJournal(logger: logger, clock: clock)
        self.limits = Mutex(limits)
        self.signer = signer
    }

    func answer(_ call: EnrolmentCall) async -> EnrolmentReply {
        var about = EnrolmentJournal.Subject(address: call.address ?? "unknown")
        do throws(EnrolmentRefusal) {
            guard call.method == "POST" else {
                throw EnrolmentRefusal(
                    .badRequest, "\(call.path.prefix(100)) takes POST, not \(call.method.prefix(20))")
            }
            switch call.path {
            case EnrolmentCall.claimPath: return try await claim(call, &about)
            case EnrolmentCall.renewalPath: return try await renew(call, &about)
            default:
                throw EnrolmentRefusal(
                    .badRequest, "this server takes \(EnrolmentCall.claimPath) and \(EnrolmentCall.renewalPath) alone")
            }
        } catch {
            counters.count(.refused(error.code))
            journal.note(.refused(error.code), about, reason: about.reason ?? error.message)
            return .refused(error)
        }
    }

    /// Logs how many lines were left out. Call it now and then.
    func tellLeftOut() { journal.tellLeftOut() }

    func refusePlainHTTP(from address: String?) -> EnrolmentReply {
        turnAway(.plainHTTP, from: address)
        return .plainHTTP
    }

    func refuseLarge(from address: String?) -> EnrolmentReply {
        turnAway(.badRequest, from: address)
        return .tooLarge
    }

    private func turnAway(_ code: EnrolmentRefusal.Code, from address: String?) {
        counters.count(.refused(code))
        journal.note(.refused(code), EnrolmentJournal.Subject(address: address ?? "unknown"), reason: "")
    }

    // MARK: Claims

    private func claim(
        _ call: EnrolmentCall, _ about: inout EnrolmentJournal.Subject
    ) async throws(EnrolmentRefusal) -> EnrolmentReply {
        let body: EnrolmentBody.Claim
        do throws(EnrolmentRefusal) {
            body = try EnrolmentBody.claim(call.body)
        } catch {
            // Without a token the request is a stranger's.
            try admitStranger(call)
            throw error
        }
        (about.serial, about.entity) = (body.serial, body.entity)
        let isUsable = try await admit(call, body.token, &about)
        let request = try await read(body.request)
        let issuance = try issuance(&about)
        var generator = SystemRandomNumberGenerator()
        let now = now()
        let claim = ClaimRequest(
            token: body.token, keyHash: request.keyHash, entity: body.entity, serial: body.serial,
            machine: body.machine, model: body.model, address: about.address, proves: body.proves,
            device: DeviceID.random(using: &generator), certificateEnd: issuance.authority.end(at: now))
        switch try await stored({ store throws(TrackStoreError) in try await store.claim(claim, at: now) }) {
        case .refused(let refusal): throw refusal
        case .pending(let device, let isNew):
            if !isUsable { limits.withLock { $0.foundDevice(from: call.origin) } }
            about.note(device)
            counters.count(.pending)
            journal.note(.pending, about, isNew: isNew)
            return .pending(device)
        case .issued(let device, let isNew):
            if !isUsable { limits.withLock { $0.foundDevice(from: call.origin) } }
            about.note(device)
            guard isNew else {
                let reply = try await issue(request, to: device, issuance, at: now, &about)
                counters.count(.again)
                journal.note(.again, about)
                return reply
            }
            // The device exists from here on, whether or not this answer arrives: no other call would log it.
            counters.count(.issued)
            journal.note(.issued, about, isNew: true)
            return try await issue(request, to: device, issuance, at: now, &about)
        }
    }

    // MARK: Renewals

    private func renew(
        _ call: EnrolmentCall, _ about: inout EnrolmentJournal.Subject
    ) async throws(EnrolmentRefusal) -> EnrolmentReply {
        let body: EnrolmentBody.Renewal
        do throws(EnrolmentRefusal) {
            body = try EnrolmentBody.renewal(call.body)
        } catch {
            try admitStranger(call)
            throw error
        }
        let now = now()
        // A challenge costs less than a refusal: one code. Nothing is read or kept.
        if body.proves, !challenge.isGood(body.nonce, at: now) { return .challenge(challenge.nonce(at: now)) }
        try admitStranger(call)
        let request = try await read(body.request)
        let isProven = body.nonce.map { request.commonName == RenewalChallenge.prefix + $0 } ?? false
        guard isProven || !body.proves else {
            throw EnrolmentRefusal(
                .requestInvalid,
                "the request does not have the name \(RenewalChallenge.prefix) and the nonce: make it again")
        }
        let issuance = try issuance(&about)
        let renewal = RenewalRequest(
            keyHash: request.keyHash, machine: body.machine, certificateEnd: issuance.authority.end(at: now),
            isProven: isProven && body.proves)
        let outcome = try await stored { store throws(TrackStoreError) in try await store.renew(renewal, at: now) }
        switch outcome {
        // A refusal costs the sender credit, also with a known key: a revoked box may ask for ever.
        case .refused(let refusal): throw refusal
        case .pending(let device):
            about.note(device)
            counters.count(.pending)
            journal.note(.pending, about)
            return .pending(device)
        // The key may be stolen: the request costs what a stranger's costs.
        case .again(let device):
            about.note(device)
            let reply = try await issue(request, to: device, issuance, at: now, &about)
            counters.count(.again)
            journal.note(.again, about)
            return reply
        case .issued(let device):
            limits.withLock { $0.foundDevice(from: call.origin) }
            about.note(device)
            let reply = try await issue(request, to: device, issuance, at: now, &about)
            counters.count(.renewed)
            journal.note(.renewed, about, isNew: true)
            return reply
        }
    }

    // MARK: Parts of both

    /// Whether the token makes devices. A token that does not may belong to a device that claims again.
    private func admit(
        _ call: EnrolmentCall, _ hash: TokenHash, _ about: inout EnrolmentJournal.Subject
    ) async throws(EnrolmentRefusal) -> Bool {
        // Without credit only a good token is let in.
        var wait: Int64?
        switch arrives(call, hash) {
        case .goOn: break
        case .needsGoodToken(let seconds): wait = seconds
        case .wait(let seconds): throw Self.tooMany(seconds)
        }
        let token = try await stored { store throws(TrackStoreError) in try await store.token(matching: hash) }
        guard let token, token.isUsable(at: now()) else {
            limits.withLock { $0.lost(hash) }
            about.token = token?.number
            if let wait { throw Self.tooMany(wait) }
            guard token != nil else { throw ClaimRules.unknownToken }
            return false
        }
        about.token = token.number
        let time = clock()
        limits.withLock { $0.found(hash, from: call.origin, at: time) }
        if wait != nil, case .wait(let seconds) = arrives(call, hash) { throw Self.tooMany(seconds) }
        return true
    }

    /// Without a token.
    private func admitStranger(_ call: EnrolmentCall) throws(EnrolmentRefusal) {
        switch arrives(call, nil) {
        case .goOn: break
        case .wait(let seconds), .needsGoodToken(let seconds): throw Self.tooMany(seconds)
        }
    }

    private func arrives(_ call: EnrolmentCall, _ token: TokenHash?) -> EnrolmentLimits.Answer {
        let time = clock()
        return limits.withLock { $0.arrives(from: call.origin, token: token, at: time) }
    }

    private static func tooMany(_ wait: Int64) -> EnrolmentRefusal {
        EnrolmentRefusal(.tooMany, "too many requests now: this one has its turn in \(wait) s", retryAfter: wait)
    }

    private func read(_ pem: String) async throws(EnrolmentRefusal) -> DeviceCertificate.Request {
        guard let read = await signer.read(pem) else { throw Self.busy }
        return try read.get()
    }

    private func issuance(_ about: inout EnrolmentJournal.Subject) throws(EnrolmentRefusal) -> EnrolmentIssuer.Issuance
    {
        do throws(ServerError) {
            return try place.issuance
        } catch {
            throw Self.noAuthority(error, &about)
        }
    }

    /// The reason goes only into the journal: it names files of the server, and the sender may be a stranger.
    private static func noAuthority(
        _ error: ServerError, _ about: inout EnrolmentJournal.Subject
    ) -> EnrolmentRefusal {
        about.reason = error.detail
        return EnrolmentRefusal(
            .noAuthority, "the server cannot issue certificates now: its journal says why", retryAfter: 600)
    }

    private func issue(
        _ request: DeviceCertificate.Request, to device: DeviceRecord, _ issuance: EnrolmentIssuer.Issuance,
        at now: Timestamp, _ about: inout EnrolmentJournal.Subject
    ) async throws(EnrolmentRefusal) -> EnrolmentReply {
        let signed = await signer.issue(
            request, to: device.id, until: device.certificateEnd, signedBy: issuance.authority, at: now)
        guard let signed else { throw Self.busy }
        do throws(ServerError) {
            return .issued(
                EnrolmentReply.Issue(
                    device: device, host: issuance.host, port: issuance.port, webAddress: issuance.webAddress,
                    certificate: try signed.get(), authority: issuance.serverAuthority))
        } catch {
            throw Self.noAuthority(error, &about)
        }
    }

    private static let busy = EnrolmentRefusal(.busy, "the server has much to do: try again", retryAfter: 10)

    private func stored<Value: Sendable>(
        _ call: (any EnrolmentStore) async throws(TrackStoreError) -> Value
    ) async throws(EnrolmentRefusal) -> Value {
        do throws(TrackStoreError) {
            return try await call(store)
        } catch {
            journal.storeFailed(error)
            throw EnrolmentRefusal(.busy, "the server's store takes nothing now: try again", retryAfter: 30)
        }
    }
}

/// Logs once a minute how many lines were left out.
struct EnrolmentLines: RepeatedWork {
    static let pause = Duration.seconds(60)

    let enrolments: EnrolmentService

    func round() { enrolments.tellLeftOut() }
}

/// What a device signs at a renewal, so that the server knows that its key is there now.
///
/// A challenge is a time and a code that only this process can make, so nothing is kept for it and anybody may ask. Whoever sends a
/// request again within the five minutes finds a renewal that was made less than ten minutes ago.
struct RenewalChallenge: Sendable {
    /// Milliseconds for which a challenge is good.
    static let goodFor: Int64 = 300_000
    /// Stands before a challenge in the common name of a request. No entity's name has a colon.
    static let prefix = "renew:"

    private let key = SymmetricKey(size: .bits256)

    /// 16 digits of the time and 32 of the code.
    func nonce(at now: Timestamp) -> String {
        let time = Self.digits(withUnsafeBytes(of: now.milliseconds.bigEndian) { Array($0) })
        return time + code(time)
    }

    /// Whether this process has made a nonce, and not too long ago.
    func isGood(_ nonce: String?, at now: Timestamp) -> Bool {
        guard let nonce, nonce.utf8.count == 48 else { return false }
        let time = String(nonce.prefix(16))
        // What carries the code was made here, so its time is one.
        guard nonce.dropFirst(16) == code(time), let made = Int64(time, radix: 16) else { return false }
        return (0...Self.goodFor).contains(now.milliseconds - made)
    }

    private func code(_ time: String) -> String {
        Self.digits(Array(HMAC<SHA256>.authenticationCode(for: Array(time.utf8), using: key).prefix(16)))
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
