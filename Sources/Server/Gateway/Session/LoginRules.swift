import Logging
import Synchronization
import TrackModel
import TrackStore
import TrackWire

/// What a login is judged by.
enum LoginCredential: Hashable, Sendable {
    case key(AccessKeyHash)
    /// The certificate of a device. It counts even if the Hello has an access key too.
    case device(DevicePeer)
}

/// A Hello whose form is right. The store says whether its key opens the service.
struct LoginRequest: Hashable, Sendable {
    var service: ServiceID
    var credential: LoginCredential
    /// Empty when the agent has none.
    var appCode: String
    var entity: String
    var stream: StreamID
    /// The sequences of the points that the agent still has.
    var waiting: Range<UInt64>
    var agentVersion: String
    /// The highest format of fence updates that the agent reads; 0: it takes none.
    var fenceFormat: UInt32 = 0
    /// The version of the fences that the agent has; 0: none.
    var fenceVersion: Int64 = 0
    /// Nil for an access key, and for an agent that does not know which start of its computer this is.
    var arrival: DeviceArrival?
}

/// Why a login failed, as the agent is told.
struct LoginRefusal: Error, Hashable {
    var code: RefusedCode
    /// Names the rule; holds no secret.
    var reason: String
    /// Seconds.
    var retryAfter: UInt32
    /// As which entity the login would be right; empty: another one would not help.
    var entity: String

    init(_ code: RefusedCode, _ reason: String, retryAfter: UInt32 = 300, entity: String = "") {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.entity = entity
    }
}

enum LoginRules {
    /// Longest `agent_version`, bytes of UTF-8.
    static let maximumVersionBytes = 128

    /// Checks everything that needs no store. `peer`: whose certificate the connection has shown.
    static func check(_ hello: Hello, from peer: DevicePeer?) throws(LoginRefusal) -> LoginRequest {
        guard hello.protocol == WireLimits.protocolVersion else {
            throw LoginRefusal(
                .protocol,
                "protocol \(hello.protocol) is not spoken here, only \(WireLimits.protocolVersion): use a fitting agent"
            )
        }
        guard let service = ServiceID(rawValue: hello.serviceID) else {
            throw LoginRefusal(.service, "service \(hello.serviceID) does not exist")
        }
        if let problem = EntityName.problem(with: hello.entity) { throw LoginRefusal(.parameter, problem) }
        guard let stream = hello.streamID else {
            throw LoginRefusal(.parameter, "stream must be 16 bytes, it has \(hello.stream.count)")
        }
        guard hello.firstSequence > 0, hello.nextSequence > 0 else {
            throw LoginRefusal(.parameter, "first_sequence and next_sequence must be greater than 0")
        }
        guard hello.firstSequence <= hello.nextSequence else {
            throw LoginRefusal(
                .parameter,
                "first_sequence \(hello.firstSequence) must not be beyond next_sequence \(hello.nextSequence)")
        }
        guard hello.agentVersion.utf8.count <= maximumVersionBytes else {
            throw LoginRefusal(.parameter, "agent_version has at most \(maximumVersionBytes) bytes of UTF-8")
        }
        guard !hello.agentVersion.hasHidden else {
            throw LoginRefusal(
                .parameter, "agent_version must not hold control, direction or invisible characters")
        }
        guard hello.boot.isEmpty || hello.bootBytes.count == WireLimits.bootBytes else {
            throw LoginRefusal(.parameter, "boot must be 16 bytes, it has \(hello.boot.count)")
        }
        guard peer != nil || !hello.ak.isEmpty else {
            throw LoginRefusal(.authentication, "neither the certificate of a device nor an access key was shown")
        }
        return LoginRequest(
            service: service, credential: peer.map { .device($0) } ?? .key(AccessKey(hello.ak).hash),
            appCode: hello.appCode, entity: hello.entity,
            stream: stream, waiting: hello.firstSequence..<hello.nextSequence, agentVersion: hello.agentVersion,
            fenceFormat: hello.fenceFormat, fenceVersion: Int64(clamping: hello.fenceVersion))
    }
}

/// The store's answer to a login.
struct AcceptedLogin: Hashable, Sendable {
    /// On the stream, for the entity of the Hello.
    var claim: StreamClaim
    /// The service's track columns.
    var columns: [ColumnRecord]
    /// The entities whose points the session may bring; nil: any of the service.
    var entities: Set<ExactName>?
}

/// The part of a login that asks the store.
enum Login {
    /// Checks the key or the device, opens the stream, which makes the entity, and returns what the session begins with. Logs
    /// why the store failed: the agent is not told. `address`: where the connection comes from.
    static func admit(
        _ request: LoginRequest, from address: String, to core: GatewayCore
    ) async throws(LoginRefusal) -> AcceptedLogin {
        let (store, clones, now) = (core.store, core.clones, core.now())
        do {
            try await checkService(of: request, in: store)
            var entities: Set<ExactName>?
            switch request.credential {
            case .key(let hash):
                try await check(hash, for: request, in: store, at: now)
                // The entity of a device was judged when the device was made.
                if let problem = try await store.problem(withName: request.entity, in: request.service) {
                    throw LoginRefusal(.parameter, problem)
                }
                let holders = DeviceFilter(service: request.service, entity: request.entity)
                try DeviceRules.checkKey(
                    for: request, try await store.devices(matching: holders, page: Page(offset: 0, limit: 100)).devices)
                try checkRate(of: request, core, at: now)
            case .device(let peer):
                let device = try DeviceRules.check(try await store.device(peer.id), peer, for: request)
                try checkRate(of: request, core, at: now)
                try await clones.check(device, request, from: address, at: now)
                entities = Set(([device.entity] + device.formerEntities).map { ExactName($0) })
                try await store.noteDevice(
                    peer.id,
                    DeviceRecord.Sighting(time: now, address: address, agentVersion: request.agentVersion))
            }
            let columns = try await store.columns(of: .track, in: request.service)
            // Last: it ends the sessions that the stream had before.
            let claim = try await store.openStream(
                request.stream, of: request.entity, in: request.service, at: now)
            return AcceptedLogin(claim: claim, columns: columns, entities: entities)
        } catch let refusal as LoginRefusal {
            throw refusal
        } catch let error as TrackStoreError where error.code == .unknownService {
            throw LoginRefusal(.service, "service \(request.service.rawValue) does not exist")
        } catch {
            let store = error as? TrackStoreError
            core.lines.write(
                .error, "The store cannot judge a login", ["reason": "\(store?.detail ?? "\(error)")"], of: .store)
            if store?.code == .full { throw LoginRefusal(.unable, StoreRefusal.full, retryAfter: 30) }
            if store?.isRetriable == true { throw LoginRefusal(.busy, "the store is busy", retryAfter: 10) }
            throw LoginRefusal(.internal, "the store failed; the server's log says why", retryAfter: 60)
        }
    }

    /// What follows writes into the store, whatever the agent says.
    private static func checkRate(of request: LoginRequest, _ core: GatewayCore, at now: Timestamp) throws {
        let vehicle = EntityKey(service: request.service, name: request.entity)
        guard let wait = core.logins.withLock({ $0.arrives(vehicle, at: now) }) else { return }
        let seconds = UInt32(clamping: (wait + 999) / 1000)
        throw LoginRefusal(
            .busy,
            "\(request.entity) logs in too often: at most \(core.limits.logins) times at once, then once in "
                + "\(core.limits.loginInterval / 1000) s", retryAfter: max(60, seconds))
    }

    /// Before the key or the device, which are gone with the service: the vehicle must hear the true reason.
    private static func checkService(of request: LoginRequest, in store: any TrackStore) async throws {
        guard try await store.deletedServices(among: [request.service]).isEmpty else {
            throw LoginRefusal(
                .service,
                "the operator has deleted service \(request.service.rawValue): the vehicle keeps its points, and can be enrolled "
                    + "for another service", retryAfter: DeviceRules.revokedRetryAfter)
        }
    }

    private static func check(
        _ hash: AccessKeyHash, for request: LoginRequest, in store: any TrackStore, at now: Timestamp
    ) async throws {
        let keys = try await store.keys(matching: hash)
        let key = keys.first { key in
            AccessKeyHash.constantTimeEqual(key.hash, hash) && key.service == request.service && !key.isDisabled
                && !key.rights.hasEnded(at: now)
        }
        guard let key else {
            if keys.isEmpty, try await store.isToken(hash) {
                throw LoginRefusal(
                    .authentication,
                    "this is an enrolment token, not an access key: on the vehicle, give its whole line to saker enroll"
                )
            }
            let isKnown = try await store.services().contains { $0.id == request.service }
            throw isKnown
                ? LoginRefusal(.authentication, "the access key does not open service \(request.service.rawValue)")
                : LoginRefusal(.service, "service \(request.service.rawValue) does not exist")
        }
        // Its `ak` travels in the clear parts of signed requests, so it alone proves nothing.
        guard key.secret == nil else {
            throw LoginRefusal(
                .authentication, "the access key is for signed requests, not for agents: give the agent another one")
        }
        guard key.rights.scopes.opens(.legacyDevice) else {
            throw LoginRefusal(
                .authentication,
                "the access key is for the Web API, not for vehicles: give the vehicle a key that "
                    + "`saker-server key create \(request.service.rawValue) --legacy-device` makes")
        }
        guard key.accepts(appCode: request.appCode) else {
            throw LoginRefusal(
                .authentication,
                "the app code is not the one of service \(request.service.rawValue): set app_code in the agent's "
                    + "configuration")
        }
    }
}
