import TrackModel
package import TrackStore

extension ClaimOutcome {
    package var refusalCode: EnrolmentRefusal.Code? {
        if case .refused(let refusal) = self { return refusal.code }
        return nil
    }
}

extension TrackStoreContract {
    /// ``EnrolmentStore``
    package static var enrolment: [TrackStoreCheck] { tokens + claimsOfDevices }

    private static var tokens: [TrackStoreCheck] {
        [
            TrackStoreCheck("a token is found by its hash, and listed in the order of making") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                let pattern = try NamePattern("truck-{serial}-{number}")
                var second = NewToken.sample(2, in: other, uses: 1, pattern: pattern, approval: .asked, end: .at(50))
                second.note = "caf\u{E9}"
                let tokens = [
                    try await store.addToken(.sample(1, in: service), at: .at(5)),
                    try await store.addToken(second, at: .at(6)),
                    try await store.addToken(.sample(3, in: service, approval: .listed(["a", "a"])), at: .at(7)),
                ]
                try expect(tokens.map(\.number), is: [1, 2, 3], "numbers")
                try expect(tokens[1], is: TokenRecord(second, number: 2, created: .at(6)), "as it was given")
                try expect(try await store.tokens(in: nil), is: tokens, "all")
                try expect(try await store.tokens(in: other), is: [tokens[1]], "of a service")
                for token in tokens {
                    try expect(try await store.token(matching: token.hash), is: token, "\(token.number)")
                }
                try expect(try await store.token(matching: TokenHash(of: "none")), is: nil, "no such token")
                try await expect(.tokenExists) { try await store.addToken(.sample(1, in: other), at: .at(8)) }
                if let missing = ServiceID(rawValue: other.rawValue + 1) {
                    try await expect(.unknownService) { try await store.addToken(.sample(9, in: missing), at: .at(8)) }
                }
            },
            TrackStoreCheck("a token is revoked alone, or with its devices") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.addToken(.sample(1, in: service), at: .at(1))
                _ = try await store.addToken(.sample(2, in: service, approval: .asked), at: .at(1))
                _ = try await store.claim(.sample(1, entity: "a"), at: .at(2))
                _ = try await store.claim(.sample(2, token: 2, entity: "b"), at: .at(2))
                _ = try await store.claim(.sample(3, token: 2, entity: "c"), at: .at(2))
                _ = try await store.changeDevice(.sample(3), .state(.active))
                let mark = try await store.deviceChanges(after: nil, limit: 1).through
                try expect(try await store.revokeToken(2, at: .at(3)).revoked, is: .at(3), "revoked")
                try expect(
                    try await store.claim(.sample(4, token: 2), at: .at(4)).refusalCode, is: .tokenRevoked, "claim")
                try expect(try await store.deviceChanges(after: mark, limit: 9).devices, is: [], "changes")
                try expect(try await store.revokeToken(2, at: .at(9)).revoked, is: .at(3), "revoked before")
                let first = try await store.revokeDevices(ofToken: 2, limit: 1)
                try expect(first, is: [try await store.device(.sample(2))].compactMap { $0 }, "the first device")
                try expect(first.map(\.state), is: [.revoked], "its state")
                let (second, device) = (try await store.revokeDevices(ofToken: 2, limit: 9), DeviceID.sample(3))
                try expect(second.map(\.id), is: [device], "the next device")
                try expect(
                    try await store.deviceChanges(after: mark, limit: 9).devices, is: [.sample(2), .sample(3)],
                    "changes")
                try expect(try await store.device(.sample(1))?.state, is: .active, "of another token")
                for number: UInt8 in 2...3 {
                    try expect(try await store.device(.sample(number))?.state, is: .revoked, "\(number)")
                    let claim = ClaimRequest.sample(number, token: 2)
                    try expect(try await store.claim(claim, at: .at(10)).refusalCode, is: .deviceRevoked, "\(number)")
                }
                try expect(try await store.revokeDevices(ofToken: 2, limit: 9), is: [], "again")
                try expect(try await store.revokeDevices(ofToken: 3, limit: 9), is: [], "of no token")
                try await expect(.unknownToken) { try await store.revokeToken(3, at: .at(9)) }
            },
        ]
    }

    private static var claimsOfDevices: [TrackStoreCheck] {
        [
            TrackStoreCheck("a claim makes a device and its entity once, and counts one use") { subject in
                let (store, service) = try await subject.withService()
                var token = try await store.addToken(.sample(1, in: service), at: .at(1))
                let claim = ClaimRequest.sample(1, entity: "van", serial: "S1")
                let wanted = DeviceRecord(claim, token: token, entity: "van", state: .active, at: .at(2))
                try expect(try await store.claim(claim, at: .at(2)), is: .issued(wanted, isNew: true), "first")
                try expect(try await store.device(.sample(1)), is: wanted, "stored")
                try expect(wanted.claim?.serial, is: "S1", "serial")
                try expect(try await store.entity(named: "van", in: service)?.created, is: .at(2), "entity")
                (token.used, token.lastName) = (1, 1)
                try expect(try await store.token(matching: token.hash), is: token, "used")
                let mark = try await store.deviceChanges(after: nil, limit: 1).through
                // The answer was lost, and the box says everything else otherwise.
                var lost = ClaimRequest.sample(1, entity: "other", serial: "S2", device: 7, end: 9500)
                lost.machine = nil
                var again = wanted
                (again.certificateEnd, again.issued) = (.at(9500), .at(3))
                try expect(try await store.claim(lost, at: .at(3)), is: .issued(again, isNew: false), "again")
                try expect(try await store.device(.sample(1)), is: again, "stored again")
                try expect(try await store.device(.sample(7)), is: nil, "no other device")
                try expect(try await store.token(matching: token.hash), is: token, "no other use")
                try expect(try await store.entity(named: "other", in: service), is: nil, "no other entity")
                try expect(try await store.deviceChanges(after: mark, limit: 9).devices, is: [], "no change")
                // Another token of the service does as well; one of another service does not.
                _ = try await store.addToken(.sample(2, in: service), at: .at(1))
                let other = try await store.createService(named: "other", at: .at(1)).id
                _ = try await store.addToken(.sample(3, in: other), at: .at(1))
                again.issued = .at(4)
                again.certificateEnd = .at(9000)
                try expect(
                    try await store.claim(.sample(1, token: 2), at: .at(4)), is: .issued(again, isNew: false), "token 2"
                )
                try expect(
                    try await store.claim(.sample(1, token: 3, entity: "x"), at: .at(4)).refusalCode,
                    is: .requestInvalid,
                    "token 3")
                try expect(try await store.tokens(in: nil).map(\.used), is: [1, 0, 0], "uses")
            },
            TrackStoreCheck("a token makes as many devices as it may, and none after its end") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.addToken(.sample(1, in: service, uses: 2, end: .at(10)), at: .at(1))
                for box: UInt8 in 1...2 {
                    let outcome = try await store.claim(.sample(box, entity: "van \(box)"), at: .at(2))
                    try expect(outcome.refusalCode, is: nil, "box \(box)")
                }
                try expect(
                    try await store.claim(.sample(3, entity: "c"), at: .at(2)).refusalCode, is: .tokenUsedUp, "third")
                // A use does not come back.
                try await store.forgetDevice(.sample(1))
                try expect(
                    try await store.claim(.sample(3, entity: "c"), at: .at(2)).refusalCode, is: .tokenUsedUp, "forgot")
                try expect(
                    try await store.claim(.sample(3, entity: "c"), at: .at(10)).refusalCode, is: .tokenEnded, "end")
                try expect(
                    try await store.claim(.sample(2), at: .at(11)).refusalCode, is: nil, "a lost answer after the end")
                try expect(
                    try await store.claim(.sample(3, token: 9, entity: "c"), at: .at(2)).refusalCode, is: .tokenUnknown,
                    "no token")
                try expect(try await store.devices(in: nil, page: Page(offset: 0, limit: 9)).total, is: 1, "devices")
                try expect(try await store.entity(named: "c", in: service), is: nil, "entity of a refused claim")
            },
            TrackStoreCheck("a pending device waits for a person, and then gets its certificate") { subject in
                let (store, service) = try await subject.withService()
                let token = try await store.addToken(.sample(1, in: service, uses: 1, approval: .asked), at: .at(1))
                let claim = ClaimRequest.sample(1, entity: "van")
                var device = DeviceRecord(claim, token: token, entity: "van", state: .pending, at: .at(2))
                try expect(device.issued, is: nil, "no certificate yet")
                try expect(try await store.claim(claim, at: .at(2)), is: .pending(device, isNew: true), "first")
                try expect(try await store.claim(claim, at: .at(3)), is: .pending(device, isNew: false), "again")
                try expect(try await store.entity(named: "van", in: service), is: nil, "no entity yet")
                let renewal = RenewalRequest(keyHash: claim.keyHash, certificateEnd: .at(9))
                try expect(try await store.renew(renewal, at: .at(3)), is: .pending(device), "renewal")
                try expect(
                    try await store.devices(matching: DeviceFilter(state: .pending), page: Page(offset: 0, limit: 9))
                        .devices, is: [device], "listed")
                try expect(
                    try await store.deviceCensus(), is: DeviceCensus(pending: 1, oldestPending: .at(2)), "census")
                device.state = .active
                try expect(try await store.changeDevice(device.id, .state(.active)), is: device, "approved")
                (device.certificateEnd, device.issued) = (.at(9000), .at(4))
                try expect(try await store.claim(claim, at: .at(4)), is: .issued(device, isNew: true), "then")
                try expect(try await store.claim(claim, at: .at(4)), is: .issued(device, isNew: false), "and again")
                try expect(try await store.entity(named: "van", in: service)?.created, is: .at(4), "entity")
                try expect(try await store.deviceCensus(), is: DeviceCensus(active: 1), "census")
                try expect(try await store.tokens(in: nil).map(\.used), is: [1], "uses")
            },
            TrackStoreCheck("devices are listed by service, state and token") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.addToken(.sample(1, in: service), at: .at(1))
                _ = try await store.addToken(.sample(2, in: service, approval: .asked), at: .at(1))
                _ = try await store.claim(.sample(1, entity: "a"), at: .at(1))
                _ = try await store.claim(.sample(2, token: 2, entity: "b"), at: .at(2))
                _ = try await store.claim(.sample(3, token: 2, entity: "c"), at: .at(3))
                _ = try await store.changeDevice(.sample(3), .state(.revoked))
                try await store.addDevice(.sample(4, in: service, entity: "d"))
                func numbers(_ filter: DeviceFilter) async throws -> [DeviceID] {
                    let page = try await store.devices(matching: filter, page: Page(offset: 0, limit: 9))
                    try expect(page.total, is: page.devices.count, "total of \(filter)")
                    return page.devices.map(\.id)
                }
                try expect(try await numbers(DeviceFilter(state: .active)), is: [.sample(1), .sample(4)], "active")
                try expect(try await numbers(DeviceFilter(state: .revoked)), is: [.sample(3)], "revoked")
                try expect(
                    try await numbers(DeviceFilter(service: service, entity: "c")), is: [.sample(3)], "of a name")
                try expect(try await numbers(DeviceFilter(service: service, entity: "C")), is: [], "of another name")
                try expect(try await numbers(DeviceFilter(token: 2)), is: [.sample(2), .sample(3)], "of a token")
                let all = DeviceFilter(service: service, state: .pending, token: 2)
                try expect(try await numbers(all), is: [.sample(2)], "all three")
                try expect(
                    try await store.deviceCensus(),
                    is: DeviceCensus(active: 2, pending: 1, revoked: 1, oldestPending: .at(2)), "census")
            },
            TrackStoreCheck("a name belongs to one device that may log in; an entity without a device may get one") {
                subject in
                let (store, service) = try await subject.withService()
                _ = try await store.addToken(.sample(1, in: service), at: .at(1))
                try await store.addEntity(NewEntity(name: "old"), in: service, at: .at(1))
                try expect(
                    try await store.claim(.sample(1, entity: "old"), at: .at(2)).refusalCode, is: nil, "an entity")
                try expect(try await store.entity(named: "old", in: service)?.created, is: .at(1), "the same entity")
                let second = ClaimRequest.sample(2, entity: "old")
                try expect(try await store.claim(second, at: .at(3)).refusalCode, is: .entityTaken, "a device")
                _ = try await store.changeDevice(.sample(1), .state(.revoked))
                try expect(try await store.claim(second, at: .at(4)).refusalCode, is: nil, "a revoked device")
                // The names of two services are different names.
                let other = try await store.createService(named: "other", at: .at(1)).id
                _ = try await store.addToken(.sample(2, in: other), at: .at(1))
                try expect(
                    try await store.claim(.sample(3, token: 2, entity: "old"), at: .at(5)).refusalCode, is: nil,
                    "a service"
                )
            },
            TrackStoreCheck("a running number passes over names that are in use") { subject in
                let (store, service) = try await subject.withService()
                let pattern = try NamePattern("van {number}")
                _ = try await store.addToken(.sample(1, in: service, pattern: pattern), at: .at(1))
                try await store.addEntity(NewEntity(name: "van 2"), in: service, at: .at(1))
                try await store.addDevice(.sample(90, in: service, entity: "van 3"))
                var names: [String] = []
                for box: UInt8 in 1...3 {
                    if case .issued(let device, _) = try await store.claim(.sample(box), at: .at(2)) {
                        names.append(device.entity)
                    }
                }
                try expect(names, is: ["van 1", "van 4", "van 5"], "names")
                try expect(try await store.tokens(in: nil).map(\.lastName), is: [5], "the last number")
            },
            TrackStoreCheck("a list lets each serial number in once") { subject in
                let (store, service) = try await subject.withService()
                let pattern = try NamePattern("{serial}-{number}")
                let list = TokenApproval.listed(["A1", "caf\u{E9}"])
                _ = try await store.addToken(.sample(1, in: service, pattern: pattern, approval: list), at: .at(1))
                for (box, serial) in [(UInt8(1), "A2"), (2, "cafe\u{301}"), (3, "a1")] {
                    let outcome = try await store.claim(.sample(box, serial: serial), at: .at(2))
                    try expect(outcome.refusalCode, is: .notOnList, serial)
                }
                try expect(try await store.claim(.sample(4), at: .at(2)).refusalCode, is: .notOnList, "no serial")
                func state(_ box: UInt8, _ serial: String) async throws -> DeviceRecord.State? {
                    switch try await store.claim(.sample(box, serial: serial), at: .at(2)) {
                    case .issued(let device, _), .pending(let device, _): device.state
                    case .refused: nil
                    }
                }
                try expect(try await state(5, "A1"), is: .active, "on the list")
                try expect(try await state(6, "A1"), is: .pending, "a second box")
                try expect(try await state(5, "A1"), is: .active, "the first again")
                try expect(try await state(7, "caf\u{E9}"), is: .active, "another one")
                _ = try await store.changeDevice(.sample(5), .state(.revoked))
                _ = try await store.changeDevice(.sample(6), .state(.revoked))
                try expect(try await state(8, "A1"), is: .pending, "after both were revoked")
                for box: UInt8 in [5, 6, 8] { try await store.forgetDevice(.sample(box)) }
                try expect(try await state(9, "A1"), is: .active, "after all were forgotten")
            },
            TrackStoreCheck("a second box with a serial number waits under the name of the first") { subject in
                let (store, service) = try await subject.withService()
                let list = TokenApproval.listed(["A1"])
                _ = try await store.addToken(
                    .sample(1, in: service, pattern: try NamePattern("{serial}"), approval: list), at: .at(1))
                try expect(
                    try await store.claim(.sample(1, serial: "A1"), at: .at(2)).refusalCode, is: nil, "the first")
                guard
                    case .pending(let second, isNew: true) = try await store.claim(.sample(2, serial: "A1"), at: .at(3))
                else { throw ContractViolation(description: "the second box does not wait") }
                try expect(second.entity, is: "A1", "its name")
                try expect(try await store.device(second.id), is: second, "stored")
                // Two boxes with one name would shut each other out.
                try await expect(.entityTaken) { try await store.changeDevice(second.id, .state(.active)) }
                _ = try await store.changeDevice(.sample(1), .state(.revoked))
                try expect(try await store.changeDevice(second.id, .state(.active)).state, is: .active, "then")
            },
            TrackStoreCheck("who was shut out does not come back by another key without a person") { subject in
                let (store, service) = try await subject.withService()
                let numbers = try NamePattern("van {number}")
                _ = try await store.addToken(.sample(1, in: service), at: .at(1))
                _ = try await store.addToken(.sample(2, in: service, pattern: numbers), at: .at(1))
                _ = try await store.claim(.sample(1, entity: "van 1"), at: .at(2))
                _ = try await store.changeDevice(.sample(1), .state(.revoked))
                guard
                    case .pending(let again, isNew: true) = try await store.claim(
                        .sample(2, entity: "van 1"), at: .at(3))
                else { throw ContractViolation(description: "the box is back") }
                try expect(again.entity, is: "van 1", "its name")
                guard case .pending(_, isNew: true) = try await store.claim(.sample(3, entity: "van 1"), at: .at(4))
                else { throw ContractViolation(description: "a third waits beside it") }
                guard case .issued(let other, isNew: true) = try await store.claim(.sample(4, token: 2), at: .at(5))
                else { throw ContractViolation(description: "there is another number") }
                try expect(other.entity, is: "van 2", "a number is free only when nobody had it")
                for box: UInt8 in 1...3 { try await store.forgetDevice(.sample(box)) }
                try expect(
                    try await store.claim(.sample(5, entity: "van 1"), at: .at(6)).refusalCode, is: nil, "forgotten")
                try expect(try await store.device(.sample(5))?.state, is: .active, "the name is free")
            },
            TrackStoreCheck("a running number is found among very many names") { subject in
                let (store, service) = try await subject.withService()
                for number in 1...300 {
                    try await store.addEntity(NewEntity(name: "van-\(number)"), in: service, at: .at(1))
                }
                let pattern = try NamePattern("van-{number}")
                _ = try await store.addToken(.sample(1, in: service, pattern: pattern), at: .at(1))
                _ = try await store.claim(.sample(1), at: .at(2))
                try expect(try await store.device(.sample(1))?.entity, is: "van-301", "after those that are there")
                // Another token of the same names begins at 1 too.
                _ = try await store.addToken(.sample(2, in: service, pattern: pattern), at: .at(1))
                _ = try await store.claim(.sample(2, token: 2), at: .at(3))
                try expect(try await store.device(.sample(2))?.entity, is: "van-302", "of the second token")
                try expect(try await store.tokens(in: nil).map(\.lastName), is: [301, 302], "the last numbers")
            },
            TrackStoreCheck("an entity with a past waits for a person unless the token says otherwise") { subject in
                let (store, service) = try await subject.withService()
                var allowing = NewToken.sample(2, in: service)
                allowing.takesPast = true
                _ = try await store.addToken(.sample(1, in: service), at: .at(1))
                _ = try await store.addToken(allowing, at: .at(1))
                try expect(try await store.tokens(in: nil).map(\.takesPast), is: [false, true], "tokens")
                for name in ["added", "heard", "heard too"] {
                    try await store.addEntity(NewEntity(name: name), in: service, at: .at(1))
                }
                for name in ["heard", "heard too"] {
                    try await store.noteHealth([
                        HealthNote(
                            entity: EntityKey(service: service, name: name), heard: .at(2), agentVersion: "1",
                            device: nil)
                    ])
                }
                func isActive(_ box: UInt8, _ token: UInt8, _ entity: String) async throws -> Bool {
                    if case .issued = try await store.claim(.sample(box, token: token, entity: entity), at: .at(3)) {
                        return true
                    }
                    return false
                }
                try expect(try await isActive(1, 1, "added"), is: true, "without a past")
                try expect(try await isActive(2, 1, "heard"), is: false, "with a past")
                try expect(try await store.device(.sample(2))?.state, is: .pending, "which waits")
                try expect(try await isActive(3, 2, "heard too"), is: true, "a token that takes it over")
                // A token may be stolen: the claim of a stranger holds off neither the vehicle nor the person.
                try expect(try await isActive(4, 1, "heard"), is: false, "a second claim")
                try expect(try await store.device(.sample(4))?.state, is: .pending, "which waits beside the first")
                for box in 5...10 as ClosedRange<UInt8> { _ = try await isActive(box, 1, "heard") }
                guard case .refused(let refusal) = try await store.claim(.sample(11, entity: "heard"), at: .at(3))
                else {
                    throw ContractViolation(description: "more devices wait than may")
                }
                try expect(refusal.code, is: .entityTaken, "of too many")
                _ = try await store.changeDevice(.sample(4), .state(.active))
                try await expect(.entityTaken) { try await store.changeDevice(.sample(2), .state(.active)) }
                try expect(try await isActive(4, 1, "heard"), is: true, "the approved one")
            },
            TrackStoreCheck("a certificate is renewed by its key, at most once in ten minutes") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.addToken(.sample(1, in: service), at: .at(1))
                _ = try await store.claim(.sample(1, entity: "van"), at: .at(1000))
                try await store.addDevice(.sample(2, in: service, entity: "by hand"))
                func renew(_ box: UInt8, _ now: Int64, end: Int64 = 20_000) async throws -> RenewalOutcome {
                    try await store.renew(
                        RenewalRequest(
                            keyHash: [UInt8](repeating: box, count: 32), machine: [UInt8](repeating: 1, count: 32),
                            certificateEnd: .at(end)), at: .at(now))
                }
                func code(_ outcome: RenewalOutcome) -> EnrolmentRefusal.Code? {
                    if case .refused(let refusal) = outcome { return refusal.code }
                    return nil
                }
                try expect(code(try await renew(1, 1599)), is: .tooMany, "at once")
                let mark = try await store.deviceChanges(after: nil, limit: 1).through
                try expect(code(try await renew(1, 1600)), is: nil, "after ten minutes")
                let device = try await store.device(.sample(1))
                try expect(device?.certificateEnd, is: .at(20_000), "end")
                try expect(device?.issued, is: .at(1600), "issued")
                try expect(device?.machine, is: [UInt8](repeating: 1, count: 32), "machine")
                try expect(try await store.deviceChanges(after: mark, limit: 9).devices, is: [], "no change")
                try expect(code(try await renew(2, 1601)), is: nil, "one that a person added")
                try expect(code(try await renew(3, 1601)), is: .deviceUnknown, "no device")
                let winter = 20_000 + RenewalRules.graceDays * 86_400
                try expect(code(try await renew(1, winter)), is: .ended, "too late")
                try expect(code(try await renew(1, winter - 1, end: winter)), is: nil, "after a winter")
                _ = try await store.changeDevice(.sample(1), .state(.revoked))
                try expect(code(try await renew(1, winter + 700)), is: .deviceRevoked, "revoked")
                try await store.forgetDevice(.sample(1))
                try expect(code(try await renew(1, winter + 700)), is: .deviceUnknown, "forgotten")
                // With its key the box may claim again; it is another device then.
                try expect(
                    try await store.claim(.sample(1, entity: "van", device: 9), at: .at(winter)).refusalCode, is: nil,
                    "again")
                try expect(try await store.device(.sample(9))?.entity, is: "van", "another device")
            },
        ]
    }
}
