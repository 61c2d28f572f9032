package import TrackModel
package import TrackStore

extension DeviceID {
    /// Different for different numbers.
    package static func sample(_ number: UInt8) -> DeviceID {
        var bytes = [UInt8](repeating: 0xA0, count: 16)
        bytes[15] = number
        guard let id = DeviceID(bytes: bytes) else { preconditionFailure("sixteen bytes") }
        return id
    }
}

extension DeviceRecord {
    /// Made at the second of its number. Without a name the first is `truck`, and each other one has a name of its own.
    package static func sample(_ number: UInt8, in service: ServiceID, entity: String? = nil) -> DeviceRecord {
        DeviceRecord(
            id: .sample(number), service: service, entity: entity ?? (number == 1 ? "truck" : "truck \(number)"),
            name: "box \(number)",
            keyHash: [UInt8](repeating: number, count: 32), created: .at(Int64(number)), certificateEnd: .at(9000))
    }
}

extension NewToken {
    /// Different for different numbers.
    package static func sample(
        _ number: UInt8, in service: ServiceID, uses: Int = 10, pattern: NamePattern = .wish,
        approval: TokenApproval = .automatic, end: Timestamp? = nil
    ) -> NewToken {
        NewToken(
            hash: TokenHash(of: "token \(number)"), service: service, uses: uses, end: end, pattern: pattern,
            approval: approval, note: "note \(number)")
    }
}

extension ClaimRequest {
    /// The box of this number, which has a key of its own, with the token of this number.
    package static func sample(
        _ box: UInt8, token: UInt8 = 1, entity: String? = nil, serial: String? = nil, device: UInt8? = nil,
        end: Int64 = 9000
    ) -> ClaimRequest {
        ClaimRequest(
            token: TokenHash(of: "token \(token)"), keyHash: [UInt8](repeating: box, count: 32), entity: entity,
            serial: serial, machine: [UInt8](repeating: box &+ 100, count: 32), model: "box", address: "192.0.2.\(box)",
            device: .sample(device ?? box), certificateEnd: .at(end))
    }
}

extension TrackStoreContract {
    /// ``DeviceStore``
    package static var devices: [TrackStoreCheck] {
        [
            TrackStoreCheck("a device is found by its number, and listed in the order of making") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try expect(try await store.device(.sample(1)), is: nil, "before there is one")
                let (first, second) = (
                    DeviceRecord.sample(1, in: service), DeviceRecord.sample(2, in: other, entity: "caf\u{E9}")
                )
                try await store.addDevice(second)
                try await store.addDevice(first)
                try expect(try await store.device(first.id), is: first, "first")
                try expect(try await store.device(second.id), is: second, "second")
                let all = try await store.devices(in: nil, page: Page(offset: 0, limit: 9))
                try expect(all.total, is: 2, "all")
                try expect(all.devices, is: [first, second], "all devices")
                let page = try await store.devices(in: nil, page: Page(offset: 1, limit: 9))
                try expect(page.devices, is: [second], "a page")
                let own = try await store.devices(in: other, page: Page(offset: 0, limit: 9))
                try expect(own.total, is: 1, "of a service")
                try expect(own.devices, is: [second], "devices of a service")
            },
            TrackStoreCheck("a number and a key belong to one device") { subject in
                let (store, service) = try await subject.withService()
                try await store.addDevice(.sample(1, in: service))
                var sameKey = DeviceRecord.sample(2, in: service)
                sameKey.keyHash = DeviceRecord.sample(1, in: service).keyHash
                try await expect(.deviceExists) { try await store.addDevice(sameKey) }
                var sameNumber = DeviceRecord.sample(3, in: service)
                sameNumber.id = .sample(1)
                try await expect(.deviceExists) { try await store.addDevice(sameNumber) }
                try await store.addDevice(.sample(2, in: service))
                try await expect(.deviceExists) {
                    try await store.changeDevice(.sample(2), .certificate(keyHash: sameKey.keyHash, end: .at(1)))
                }
                try expect(try await store.device(.sample(2)), is: .sample(2, in: service), "unchanged")
                if let missing = ServiceID(rawValue: service.rawValue + 1) {
                    try await expect(.unknownService) { try await store.addDevice(.sample(4, in: missing)) }
                }
            },
            TrackStoreCheck("a device is changed, moved, revoked and approved, and remembers what it was") { subject in
                let (store, service) = try await subject.withService()
                try await store.addDevice(.sample(1, in: service))
                try await store.addDevice(.sample(2, in: service))
                var wanted = DeviceRecord.sample(1, in: service)
                func change(_ change: DeviceChange, _ apply: (inout DeviceRecord) -> Void) async throws {
                    apply(&wanted)
                    try expect(try await store.changeDevice(wanted.id, change), is: wanted, "\(change)")
                    try expect(try await store.device(wanted.id), is: wanted, "\(change), read")
                }
                try await change(.name("")) { $0.name = "" }
                try await change(.entity("van")) { ($0.entity, $0.formerEntities) = ("van", ["truck"]) }
                try await change(.entity("van")) { _ in }
                try await change(.entity("caf\u{E9}")) {
                    ($0.entity, $0.formerEntities) = ("caf\u{E9}", ["truck", "van"])
                }
                // Another name, though it looks the same.
                try await change(.entity("cafe\u{301}")) {
                    ($0.entity, $0.formerEntities) = ("cafe\u{301}", ["truck", "van", "caf\u{E9}"])
                }
                try await change(.entity("truck")) {
                    ($0.entity, $0.formerEntities) = ("truck", ["van", "caf\u{E9}", "cafe\u{301}"])
                }
                try await change(.state(.revoked)) { $0.state = .revoked }
                try await change(.state(.active)) { $0.state = .active }
                let key = [UInt8](repeating: 77, count: 32)
                try await change(.certificate(keyHash: key, end: .at(12_000))) {
                    ($0.keyHash, $0.certificateEnd) = (key, .at(12_000))
                }
                try await change(.certificate(keyHash: key, end: .at(13_000))) { $0.certificateEnd = .at(13_000) }
                try expect(try await store.device(.sample(2)), is: .sample(2, in: service), "the neighbour")
                try await expect(.unknownDevice) { try await store.changeDevice(.sample(9), .name("x")) }
            },
            TrackStoreCheck("a device is found by its entity, or by the first digits of its number") { subject in
                let (store, service) = try await subject.withService()
                let names = ["van", "%", "a0a0", "caf\u{E9}"]
                for (number, name) in zip(UInt8(1)..., names) {
                    try await store.addDevice(.sample(number, in: service, entity: name))
                }
                func found(_ selector: String, limit: Int = 9) async throws -> [String] {
                    let page = Page(offset: 0, limit: limit)
                    let found = try await store.devices(matching: DeviceFilter(selector: selector), page: page)
                    try expect(found.devices.count, is: min(found.total, limit), "devices of the page")
                    return found.devices.map(\.entity)
                }
                try expect(try await found("van"), is: ["van"], "by an entity")
                try expect(try await found("%"), is: ["%"], "by an entity that is a pattern elsewhere")
                for wrong in ["va", "Van", "A0A", "", "____", "cafe\u{301}", "b0a0"] {
                    try expect(try await found(wrong), is: [], "by \(wrong)")
                }
                let number = "\(DeviceID.sample(2))"
                for some in [number, number.uppercased(), number.filter { $0 != "-" }] {
                    try expect(try await found(some), is: ["%"], "by \(some)")
                }
                try expect(try await found(String(number.prefix(12))), is: names, "by digits that all have")
                try expect(try await found("a0a0"), is: names, "by an entity that looks like digits")
                try expect(try await found("a0a0", limit: 1), is: ["van"], "one of them")
            },
            TrackStoreCheck("no two active devices are one entity") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try await store.addDevice(.sample(1, in: service, entity: "a"))
                try await store.addDevice(.sample(2, in: service, entity: "b"))
                try await store.addDevice(.sample(3, in: other, entity: "a"))
                let cursor = try await store.deviceChanges(after: nil, limit: 9).through
                try await expect(.entityTaken) { try await store.addDevice(.sample(4, in: service, entity: "a")) }
                try expect(try await store.device(.sample(4)), is: nil, "not added")
                try await expect(.entityTaken) { try await store.changeDevice(.sample(2), .entity("a")) }
                try expect(try await store.device(.sample(2))?.entity, is: "b", "not moved")
                try expect(try await store.deviceChanges(after: cursor, limit: 9).devices, is: [], "changes")
                // Who is revoked may be moved there, and cannot come back.
                _ = try await store.changeDevice(.sample(2), .state(.revoked))
                _ = try await store.changeDevice(.sample(2), .entity("a"))
                try await expect(.entityTaken) { try await store.changeDevice(.sample(2), .state(.active)) }
                _ = try await store.changeDevice(.sample(2), .name("x"))
                _ = try await store.changeDevice(.sample(1), .entity("c"))
                try expect(try await store.changeDevice(.sample(2), .state(.active)).entity, is: "a", "then")
            },
            TrackStoreCheck("a device that was forgotten is gone, and its key may come again") { subject in
                let (store, service) = try await subject.withService()
                try await store.addDevice(.sample(1, in: service))
                try await store.forgetDevice(.sample(1))
                try expect(try await store.device(.sample(1)), is: nil, "forgotten")
                try expect(try await store.devices(in: nil, page: Page(offset: 0, limit: 9)).total, is: 0, "listed")
                try await expect(.unknownDevice) { try await store.forgetDevice(.sample(1)) }
                try await expect(.unknownDevice) { try await store.changeDevice(.sample(1), .state(.active)) }
                try await store.noteDevice(
                    .sample(1), DeviceRecord.Sighting(time: .at(1), address: "a", agentVersion: "v"))
                try expect(try await store.device(.sample(1)), is: nil, "forgotten still")
                // Its number never comes again: a certificate may still name it.
                try await expect(.deviceExists) { try await store.addDevice(.sample(1, in: service)) }
                var again = DeviceRecord.sample(2, in: service)
                again.keyHash = DeviceRecord.sample(1, in: service).keyHash
                try await store.addDevice(again)
                try expect(try await store.device(.sample(2)), is: again, "with the same key")
            },
            TrackStoreCheck("a sighting is kept and is no change") { subject in
                let (store, service) = try await subject.withService()
                try await store.addDevice(.sample(1, in: service))
                let cursor = try await store.deviceChanges(after: nil, limit: 9).through
                var wanted = DeviceRecord.sample(1, in: service)
                for version in ["1.0", "caf\u{E9}"] {
                    let sighting = DeviceRecord.Sighting(time: .at(50), address: "2001:db8::1", agentVersion: version)
                    wanted.sighting = sighting
                    try await store.noteDevice(.sample(1), sighting)
                    try expect(try await store.device(.sample(1)), is: wanted, "seen")
                }
                try expect(try await store.deviceChanges(after: cursor, limit: 9).devices, is: [], "changes")
                wanted.name = "x"
                try expect(
                    try await store.changeDevice(.sample(1), .name("x")), is: wanted, "a change keeps the sighting")
            },
            TrackStoreCheck("a notice of a copy is kept, is no change, and ends with an approval or another claim") {
                subject in
                let (store, service) = try await subject.withService()
                try await store.addDevice(.sample(1, in: service))
                try await store.addDevice(.sample(2, in: service))
                let cursor = try await store.deviceChanges(after: nil, limit: 9).through
                var wanted = DeviceRecord.sample(1, in: service)
                for second: Int64 in [50, 60] {
                    wanted.cloned = .at(second)
                    try await store.noteClone(of: .sample(1), at: .at(second))
                    try expect(try await store.device(.sample(1)), is: wanted, "noted at \(second)")
                }
                try expect(try await store.device(.sample(2)), is: .sample(2, in: service), "the neighbour")
                try expect(try await store.deviceChanges(after: cursor, limit: 9).devices, is: [], "changes")
                let listed = try await store.devices(in: service, page: Page(offset: 0, limit: 9)).devices
                try expect(listed.map(\.cloned), is: [.at(60), nil], "listed")
                wanted.name = "x"
                try expect(try await store.changeDevice(.sample(1), .name("x")), is: wanted, "a name keeps it")
                wanted.state = .revoked
                try expect(try await store.changeDevice(.sample(1), .state(.revoked)), is: wanted, "shut out")
                (wanted.state, wanted.cloned) = (.active, nil)
                try expect(try await store.changeDevice(.sample(1), .state(.active)), is: wanted, "approved")
                try expect(try await store.device(.sample(1)), is: wanted, "approved, read")
                try await store.noteClone(of: .sample(9), at: .at(70))
                try expect(try await store.device(.sample(9)), is: nil, "an unknown device")

                _ = try await store.addToken(.sample(1, in: service), at: .at(1))
                _ = try await store.claim(.sample(3, entity: "van"), at: .at(100))
                try await store.noteClone(of: .sample(3), at: .at(200))
                let before = try await store.deviceChanges(after: nil, limit: 9).through
                _ = try await store.renew(
                    RenewalRequest(keyHash: [UInt8](repeating: 3, count: 32), certificateEnd: .at(20_000)),
                    at: .at(5000))
                try expect(try await store.device(.sample(3))?.cloned, is: .at(200), "a renewal keeps it")
                try expect(try await store.deviceChanges(after: before, limit: 9).devices, is: [], "no change yet")
                guard case .issued(let again, _) = try await store.claim(.sample(3, entity: "van"), at: .at(6000))
                else {
                    throw ContractViolation(description: "not issued again")
                }
                try expect(again.cloned, is: nil, "claimed again")
                try expect(try await store.device(.sample(3))?.cloned, is: nil, "claimed again, read")
                try expect(try await store.deviceChanges(after: before, limit: 9).devices, is: [.sample(3)], "a change")
            },
            TrackStoreCheck("every change is told once, after the mark before it") { subject in
                let (store, service) = try await subject.withService()
                let start = try await store.deviceChanges(after: nil, limit: 9)
                try expect(start.devices, is: [], "of none")
                for number: UInt8 in 1...3 { try await store.addDevice(.sample(number, in: service)) }
                let added = try await store.deviceChanges(after: start.through, limit: 9)
                try expect(added.devices, is: [.sample(1), .sample(2), .sample(3)], "added")
                try expect(
                    try await store.deviceChanges(after: nil, limit: 9).through, is: added.through, "the last mark")
                _ = try await store.changeDevice(.sample(2), .state(.revoked))
                _ = try await store.changeDevice(.sample(1), .entity("x"))
                _ = try await store.changeDevice(.sample(2), .name("x"))
                try await store.forgetDevice(.sample(3))
                let changed = try await store.deviceChanges(after: added.through, limit: 2)
                try expect(changed.devices, is: [.sample(2), .sample(1)], "two")
                let rest = try await store.deviceChanges(after: changed.through, limit: 2)
                try expect(rest.devices, is: [.sample(2), .sample(3)], "the rest")
                let none = try await store.deviceChanges(after: rest.through, limit: 2)
                try expect(none.devices, is: [], "no more")
                try expect(none.through, is: rest.through, "the mark stays")
            },
        ]
    }
}
