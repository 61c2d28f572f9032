package import TrackModel

/// What a box says when it claims an identity. Its key has signed the request for the certificate.
package struct ClaimRequest: Hashable, Sendable {
    package var token: TokenHash
    /// See ``DeviceRecord/keyHash``.
    package var keyHash: [UInt8]
    /// The entity that the box wishes to be.
    package var entity: String?
    package var serial: String?
    /// Names the machine, so that a copy of its disk is seen; 32 bytes.
    package var machine: [UInt8]?
    package var model: String
    /// For people.
    package var address: String
    /// The box says that it will prove its key at each renewal.
    package var proves: Bool
    /// The number of the device, if a new one is made.
    package var device: DeviceID
    /// The end of the certificate that is issued, if one is.
    package var certificateEnd: Timestamp

    package init(
        token: TokenHash, keyHash: [UInt8], entity: String? = nil, serial: String? = nil, machine: [UInt8]? = nil,
        model: String = "", address: String = "", proves: Bool = false, device: DeviceID, certificateEnd: Timestamp
    ) {
        self.token = token
        self.keyHash = keyHash
        self.entity = entity
        self.serial = serial
        self.machine = machine
        self.model = model
        self.address = address
        self.proves = proves
        self.device = device
        self.certificateEnd = certificateEnd
    }
}

/// Why a claim or a renewal is refused. The codes are those of the interface.
package struct EnrolmentRefusal: Error, Hashable, Sendable {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case badRequest = "bad_request"
        case plainHTTP = "plain_http"
        case tokenUnknown = "token_unknown"
        case tokenEnded = "token_ended"
        case tokenRevoked = "token_revoked"
        case tokenUsedUp = "token_used_up"
        case entityRefused = "entity_refused"
        case entityTaken = "entity_taken"
        case notOnList = "not_on_list"
        case requestInvalid = "request_invalid"
        case keyWeak = "key_weak"
        case deviceRevoked = "device_revoked"
        case deviceUnknown = "device_unknown"
        case ended = "ended"
        case tooMany = "too_many"
        case busy = "busy"
        case noAuthority = "no_authority"
    }

    package var code: Code
    /// What is wrong, and what to do. Holds no secret.
    package var message: String
    /// Seconds until the box may try again; nil when that would not help, or for the box to choose.
    package var retryAfter: Int64?

    package init(_ code: Code, _ message: String, retryAfter: Int64? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }
}

/// What came of a claim in the store.
package enum ClaimOutcome: Hashable, Sendable {
    /// A certificate is to be issued. `isNew`: it is the first that the server makes for the device by itself.
    case issued(DeviceRecord, isNew: Bool)
    /// A person must approve the device. `isNew`: the device was made by this claim.
    case pending(DeviceRecord, isNew: Bool)
    case refused(EnrolmentRefusal)
}

/// What the store says of a claim before anything is changed.
package struct ClaimFacts: Hashable, Sendable {
    package enum Listing: Hashable, Sendable {
        /// The token has no list, or the box named no serial number.
        case none
        case listed
        /// On the list, and a device has it already, which may have been revoked.
        case taken
    }

    /// Nil: there is no such token.
    package var token: TokenRecord?
    /// The device that has the key of the request.
    package var known: DeviceRecord?
    package var listing: Listing

    package init(token: TokenRecord?, known: DeviceRecord?, listing: Listing) {
        self.token = token
        self.known = known
        self.listing = listing
    }
}

/// What a claim comes to.
package enum ClaimDecision: Hashable, Sendable {
    case refused(EnrolmentRefusal)
    /// The device that the key belongs to; no use is counted.
    case again(DeviceRecord)
    /// A new device is made, and a use is counted. `number`: the running number in its name.
    case make(entity: String, state: DeviceRecord.State, number: Int64)
}

/// What a name of an entity is in use for.
package indirect enum NameUse: Hashable, Sendable {
    case free
    /// There is such an entity, and no device is it: somebody has added it.
    case entity
    /// There is such an entity with a past: points, or a vehicle that logged in as it with an access key. No device is it.
    case past
    /// A device is it.
    case device(DeviceID)
    /// So many devices wait for a person who lets them be it; and what the name is in use for besides.
    case waiting(Int, NameUse)
    /// A device was it that is revoked.
    case revoked(DeviceID)
}

/// The rules of a claim.
package enum ClaimRules {
    /// Running numbers that are tried one after another; then the steps become longer.
    private static let nearNumbers: Int64 = 8
    /// Devices that wait to be one entity. A token may be stolen: whoever came first holds nobody off.
    package static let mostWaiting = 8
    /// The longest step.
    private static let longestStep: Int64 = 1 << 40

    package static let unknownToken = EnrolmentRefusal(
        .tokenUnknown, "the server knows no such enrolment token: copy the whole line, or ask for a new one")

    /// `use`: what the store says of a name in the service of the token.
    package static func decide<Failure: Error>(
        _ request: ClaimRequest, _ facts: ClaimFacts, at now: Timestamp, use: (String) throws(Failure) -> NameUse
    ) throws(Failure) -> ClaimDecision {
        guard let token = facts.token else { return .refused(unknownToken) }
        let refusal = refusal(of: token, at: now)
        if let known = facts.known { return again(known, token, refusal, at: now) }
        if let refusal { return .refused(refusal) }
        if token.approval == .listed, facts.listing == .none {
            let serial = request.serial.map { "the serial number \($0)" } ?? "no serial number: a box without one"
            return .refused(
                EnrolmentRefusal(
                    .notOnList, "\(serial) is not on the list of this token: ask for a token whose list has the vehicle"
                ))
        }
        return try name(request, token, facts.listing, use)
    }

    /// The key proves whose claim it is, so a lost answer costs no use, and the end of a token harms no device it has made.
    private static func again(
        _ device: DeviceRecord, _ token: TokenRecord, _ refusal: EnrolmentRefusal?, at now: Timestamp
    ) -> ClaimDecision {
        guard device.service == token.service else {
            return .refused(
                EnrolmentRefusal(
                    .requestInvalid, "the key of the request is that of a device of another service: make another key"))
        }
        guard device.state != .revoked else {
            return .refused(
                EnrolmentRefusal(
                    .deviceRevoked,
                    "the operator has revoked this device (\(device.id)): ask the operator to approve it"))
        }
        // What a renewal would refuse needs a token that is good. A device that was approved late has had no certificate yet.
        let isFirst = device.claim != nil && device.issued == nil
        if let refusal, !isFirst, RenewalRules.hasEnded(device, at: now) { return .refused(refusal) }
        return .again(device)
    }

    private static func refusal(of token: TokenRecord, at now: Timestamp) -> EnrolmentRefusal? {
        if token.revoked != nil {
            return EnrolmentRefusal(.tokenRevoked, "the operator has revoked this enrolment token: ask for a new one")
        }
        if let end = token.end, now >= end {
            return EnrolmentRefusal(.tokenEnded, "this enrolment token has ended: ask for a new one")
        }
        guard token.used < token.uses else {
            return EnrolmentRefusal(
                .tokenUsedUp, "all \(token.uses) uses of this enrolment token are used up: ask for a new one")
        }
        return nil
    }

    private static func name<Failure: Error>(
        _ request: ClaimRequest, _ token: TokenRecord, _ listing: ClaimFacts.Listing,
        _ use: (String) throws(Failure) -> NameUse
    ) throws(Failure) -> ClaimDecision {
        let first = token.lastName + 1
        let name: String
        switch candidate(first, request, token.pattern) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let found): name = found
        }
        let state = token.approval == .asked || listing == .taken ? DeviceRecord.State.pending : .active
        var found = try use(name)
        if !token.pattern.has(.number), case .waiting(let count, let besides) = found {
            guard count < mostWaiting else { return .refused(crowded(name, count)) }
            found = besides
        }
        if found == .free, let problem = EntityName.problem(withNew: name) { return .refused(unfit(name, problem)) }
        guard !token.pattern.has(.number) else {
            if found == .free { return .make(entity: name, state: state, number: first) }
            return try numbered(after: first, request, token, state, use)
        }
        switch found {
        case .free, .entity: return .make(entity: name, state: state, number: first)
        // A token may be stolen. Who becomes an entity with a past reads its track, and shuts the vehicle with the access key out.
        case .past: return .make(entity: name, state: token.takesPast ? state : .pending, number: first)
        // Whoever was shut out, or takes the place of one who was, needs a person.
        case .revoked: return .make(entity: name, state: .pending, number: first)
        case .device where listing == .taken: return .make(entity: name, state: .pending, number: first)
        case .device, .waiting: return .refused(taken(name))
        }
    }

    /// A running number is for a new vehicle: the tracks of another one are no business of it, so only a name that is quite
    /// free will do. `taken`: a number whose name is not. A service may have very many names of the pattern already, so a few
    /// numbers are tried one by one, then steps become longer until a name is free, and the last step is halved.
    private static func numbered<Failure: Error>(
        after taken: Int64, _ request: ClaimRequest, _ token: TokenRecord, _ state: DeviceRecord.State,
        _ use: (String) throws(Failure) -> NameUse
    ) throws(Failure) -> ClaimDecision {
        var (taken, step) = (taken, Int64(1))
        var free: (number: Int64, name: String)?
        while true {
            if let free, free.number - taken <= 1 {
                return .make(entity: free.name, state: state, number: free.number)
            }
            let number = free.map { taken + ($0.number - taken) / 2 } ?? taken + step
            let name: String
            switch candidate(number, request, token.pattern) {
            case .failure(let refusal): return .refused(refusal)
            case .success(let found): name = found
            }
            if try use(name) == .free {
                free = (number, name)
            } else {
                taken = number
                guard step < longestStep else { return .refused(Self.taken(name)) }
                if free == nil, number - token.lastName > nearNumbers { step *= 2 }
            }
        }
    }

    /// The name with this running number, when the box may have it.
    private static func candidate(
        _ number: Int64, _ request: ClaimRequest, _ pattern: NamePattern
    ) -> Result<String, EnrolmentRefusal> {
        guard let name = pattern.name(entity: request.entity, serial: request.serial, number: number) else {
            return .failure(missing(pattern, request))
        }
        if let problem = EntityName.problem(with: name) { return .failure(unfit(name, problem)) }
        if let wish = request.entity, !pattern.has(.entity), !wish.utf8.elementsEqual(name.utf8) {
            return .failure(
                EnrolmentRefusal(
                    .entityRefused,
                    "the token names vehicles \"\(pattern)\", so this one cannot be \"\(wish.prefix(160))\": wish for no "
                        + "name, or ask for a token with another one"))
        }
        return .success(name)
    }

    private static func unfit(_ name: String, _ problem: String) -> EnrolmentRefusal {
        EnrolmentRefusal(.entityRefused, "the vehicle cannot be named \"\(name.prefix(160))\": \(problem)")
    }

    private static func taken(_ name: String) -> EnrolmentRefusal {
        EnrolmentRefusal(
            .entityTaken,
            "another device is \(name) already: choose another name, or let the operator revoke or forget that device")
    }

    private static func crowded(_ name: String, _ count: Int) -> EnrolmentRefusal {
        EnrolmentRefusal(
            .entityTaken,
            "\(count) devices wait to be \(name): let the operator approve one of them, and revoke or forget the others"
        )
    }

    private static func missing(_ pattern: NamePattern, _ request: ClaimRequest) -> EnrolmentRefusal {
        let isWish = pattern.has(.entity) && request.entity == nil
        return EnrolmentRefusal(
            .entityRefused,
            isWish
                ? "the token wants the vehicle's name, and the vehicle named none: give it with --entity"
                : "the token names vehicles by their serial number, and this one told none: give it with --serial")
    }
}
