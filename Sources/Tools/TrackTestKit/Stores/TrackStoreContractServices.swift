import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``ServiceStore``
    package static var services: [TrackStoreCheck] {
        [
            TrackStoreCheck("services are numbered from 1 in the order of their making") { subject in
                let store = try await subject.make()
                try expect(try await store.services(), is: [], "services of a new store")
                let first = try await store.createService(named: "one", at: .at(1))
                let second = try await store.createService(named: "one", at: .at(2))
                try expect([first.id.rawValue, second.id.rawValue], is: [1, 2], "numbers")
                try expect(try await store.services(), is: [first, second], "services")
                try expect(second.created, is: .at(2), "creation time")
            },
            TrackStoreCheck("a key is found by its hash alone, once a service") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                let hash = AccessKey("first").hash
                try expect(try await store.keys(matching: hash).count, is: 0, "keys before there is one")
                try await store.addKey(hash, secret: nil, to: other, replacing: false, at: .at(2))
                try await store.addKey(hash, secret: "sk", to: service, replacing: false, at: .at(2))
                let keys = try await store.keys(matching: hash)
                try expect(keys.map(\.service), is: [service, other], "services of the key")
                try expect(keys.map(\.secret), is: ["sk", nil], "secrets")
                try expect(keys.map(\.isDisabled), is: [false, false], "disabled")
                try expect(keys.allSatisfy { AccessKeyHash.constantTimeEqual($0.hash, hash) }, is: true, "hash")
                let unknown = AccessKey("unknown").hash
                try expect(try await store.keys(matching: unknown).count, is: 0, "unknown keys")
            },
            TrackStoreCheck("a replacing key disables the service's earlier ones, and only those") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                let (old, new) = (AccessKey("old").hash, AccessKey("new").hash)
                try await store.addKey(old, secret: nil, to: service, replacing: false, at: .at(2))
                try await store.addKey(old, secret: nil, to: other, replacing: false, at: .at(2))
                try await store.addKey(new, secret: nil, to: service, replacing: true, at: .at(3))
                try expect(try await store.keys(matching: old).map(\.isDisabled), is: [true, false], "old")
                try expect(try await store.keys(matching: new).map(\.isDisabled), is: [false], "new")
                try await store.addKey(old, secret: "sk", to: service, replacing: false, at: .at(4))
                let again = try await store.keys(matching: old)
                try expect(again.map(\.isDisabled), is: [false, false], "old, added again")
                try expect(again.map(\.secret), is: ["sk", nil], "secret of old, added again")
            },
            TrackStoreCheck("a key that has ended is found among those in use, and no other") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                let (old, kept, new) = (AccessKey("old").hash, AccessKey("kept").hash, AccessKey("new").hash)
                try await store.addKey(old, secret: nil, to: service, replacing: false, at: .at(2))
                try await store.addKey(old, secret: nil, to: other, replacing: false, at: .at(2))
                try await store.addKey(kept, secret: nil, to: service, replacing: false, at: .at(3))
                func use(_ hash: AccessKeyHash, _ service: ServiceID) -> AccessKeyUse {
                    AccessKeyUse(service: service, hash: hash)
                }
                let uses: Set = [use(old, service), use(old, other), use(kept, service)]
                try expect(try await store.endedKeys(among: [], at: .at(9)), is: [], "of none")
                try expect(try await store.endedKeys(among: uses, at: .at(9)), is: [], "before")
                try await store.addKey(new, secret: nil, to: service, replacing: true, at: .at(4))
                try expect(
                    try await store.endedKeys(among: uses.union([use(new, service)]), at: .at(9)),
                    is: [use(old, service), use(kept, service)], "after another key replaced them")
                try await store.addKey(kept, secret: nil, to: service, replacing: false, at: .at(5))
                try expect(try await store.endedKeys(among: uses, at: .at(9)), is: [use(old, service)], "added again")
                try expect(
                    try await store.endedKeys(among: [use(new, other)], at: .at(9)), is: [use(new, other)],
                    "of another service")
                if let missing = ServiceID(rawValue: other.rawValue + 1) {
                    try expect(
                        try await store.endedKeys(among: [use(new, missing)], at: .at(9)), is: [use(new, missing)],
                        "of a service that does not exist")
                }
            },
            TrackStoreCheck("the keys of a service are listed, and one is ended and made valid again alone") {
                subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                let (plain, signed) = (AccessKey("plain").hash, AccessKey("signed").hash)
                try await store.addKey(plain, secret: nil, to: service, replacing: false, at: .at(2))
                try await store.addKey(signed, secret: "sk", to: service, replacing: false, at: .at(3))
                try await store.addKey(plain, secret: nil, to: other, replacing: false, at: .at(4))
                func listing(_ hash: AccessKeyHash, _ time: Int64, _ isSigned: Bool, _ isDisabled: Bool) -> KeyListing {
                    KeyListing(
                        hash: hash, created: .at(time), isSigned: isSigned, isDisabled: isDisabled, rights: .former)
                }
                let use = AccessKeyUse(service: service, hash: plain)
                try await store.setKey(use, isDisabled: true)
                try expect(
                    try await store.keys(of: service),
                    is: [listing(plain, 2, false, true), listing(signed, 3, true, false)], "keys")
                try expect(try await store.keys(of: other), is: [listing(plain, 4, false, false)], "of another")
                try expect(try await store.endedKeys(among: [use], at: .at(9)), is: [use], "ended")
                try await store.setKey(use, isDisabled: false)
                try expect(try await store.endedKeys(among: [use], at: .at(9)), is: [], "valid again")
                let ghost = AccessKeyUse(service: service, hash: AccessKey("ghost").hash)
                try await store.setKey(ghost, isDisabled: false)
                try expect(try await store.keys(of: service).count, is: 2, "keys still")
                try await store.addKey(plain, secret: "sk", to: service, replacing: false, at: .at(5))
                try expect(
                    try await store.keys(of: service),
                    is: [listing(signed, 3, true, false), listing(plain, 5, true, false)], "added again")
            },
            TrackStoreCheck("a key keeps its rights, and its end ends it") { subject in
                let (store, service) = try await subject.withService()
                guard let address = AddressRange("192.0.2.0/24"), let other = AddressRange("2001:db8::1"),
                    let page = RefererPattern("*.example.net"), let path = RefererPattern("b.example/caf\u{E9}/*")
                else { return }
                let rights = KeyRights(
                    [.read, .admin], end: .at(50), addresses: [address, other], referers: [page, path])
                let hash = AccessKey("scoped").hash
                let use = AccessKeyUse(service: service, hash: hash)
                try await store.addKey(
                    KeyGrant(hash, secret: "sk", rights: rights), to: service, replacing: false, at: .at(2))
                try expect(try await store.keys(matching: hash).map(\.rights), is: [rights], "by the hash")
                try expect(try await store.signingKeys().map(\.rights), is: [rights], "of signing keys")
                try expect(try await store.keys(of: service).map(\.rights), is: [rights], "of the service")
                try expect(try await store.endedKeys(among: [use], at: .at(49)), is: [], "before its end")
                try expect(try await store.endedKeys(among: [use], at: .at(50)), is: [use], "at its end")
                try await store.addKey(
                    KeyGrant(hash, rights: KeyRights([])), to: service, replacing: false, at: .at(3))
                try expect(try await store.keys(matching: hash).map(\.rights), is: [KeyRights([])], "added again")
                try expect(try await store.endedKeys(among: [use], at: .at(50)), is: [], "without an end")
            },
            TrackStoreCheck("a service is made with the number that it had elsewhere, once") { subject in
                let (store, first) = try await subject.withService()
                guard let number = ServiceID(rawValue: 200_123) else { return }
                let made = try await store.createService(named: "imported", numbered: number, at: .at(2))
                try expect(made.id, is: number, "number")
                try await expect(.serviceExists) {
                    try await store.createService(named: "again", numbered: number, at: .at(3))
                }
                let next = try await store.createService(named: "next", at: .at(4)).id
                try expect(next.rawValue, is: 200_124, "the next number")
                try expect(try await store.services().map(\.id), is: [first, number, next], "services")
                try expect(try await store.services().map(\.name)[1], is: "imported", "name")
            },
            TrackStoreCheck("a service gets another name and keeps its number") { subject in
                let (store, service) = try await subject.withService()
                try await store.renameService(service, to: "caf\u{E9}")
                try expect(try await store.services().map(\.name), is: ["caf\u{E9}"], "name")
                if let missing = ServiceID(rawValue: service.rawValue + 1) {
                    try await expect(.unknownService) { try await store.renameService(missing, to: "x") }
                    try expect(try await store.keys(of: missing), is: [], "keys of none")
                }
            },
            TrackStoreCheck("a secret is replaced where there is one, and every one is listed") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                let (signed, plain) = (AccessKey("signed").hash, AccessKey("plain").hash)
                try await store.addKey(plain, secret: nil, to: service, replacing: false, at: .at(2))
                try await store.addKey(signed, secret: "one", to: service, replacing: false, at: .at(2))
                try await store.addKey(signed, secret: "two", to: other, replacing: false, at: .at(2))
                try await store.addKey(plain, secret: nil, to: other, replacing: true, at: .at(3))
                let all = try await store.signingKeys()
                try expect(all.map(\.service), is: [service, other], "services")
                try expect(all.map(\.secret), is: ["one", "two"], "secrets")
                try expect(all.map(\.isDisabled), is: [false, true], "disabled")
                try expect(all.map(\.hash), is: [signed, signed], "hashes")
                for hash in [signed, plain, AccessKey("ghost").hash] {
                    try await store.replaceSecret(with: "new", of: AccessKeyUse(service: other, hash: hash))
                }
                let keys = try await store.keys(matching: signed)
                try expect(keys.map(\.secret), is: ["one", "new"], "after one was replaced")
                try expect(keys.map(\.isDisabled), is: [false, true], "disabled still")
                try expect(try await store.keys(matching: plain).map(\.secret), is: [nil, nil], "keys without secret")
            },
            TrackStoreCheck("a service has the app code that it was given last, and each of its keys tells it") {
                subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                let hash = AccessKey("key").hash
                for service in [service, other] {
                    try await store.addKey(hash, secret: nil, to: service, replacing: false, at: .at(2))
                }
                func codes() async throws -> [String?] {
                    let services = try await store.services().map(\.appCode)
                    try expect(try await store.keys(matching: hash).map(\.appCode), is: services, "codes of the keys")
                    return services
                }
                try expect(try await codes(), is: [nil, nil], "at first")
                try await store.setAppCode("com.example.fleet", of: service)
                try expect(try await codes(), is: ["com.example.fleet", nil], "set")
                try await store.setAppCode("caf\u{E9}", of: other)
                try await store.setAppCode("2", of: service)
                try expect(try await codes(), is: ["2", "caf\u{E9}"], "set again")
                try await store.setAppCode(nil, of: service)
                try expect(try await codes(), is: [nil, "caf\u{E9}"], "cleared")
                if let missing = ServiceID(rawValue: other.rawValue + 1) {
                    try await expect(.unknownService) { try await store.setAppCode("x", of: missing) }
                }
            },
            TrackStoreCheck("what is meant for a service that does not exist is refused") { subject in
                let (store, service) = try await subject.withService()
                guard let missing = ServiceID(rawValue: service.rawValue + 1) else { return }
                try await expect(.unknownService) {
                    try await store.addKey(
                        AccessKey("k").hash, secret: nil, to: missing, replacing: true, at: .at(1))
                }
                try await expect(.unknownService) {
                    try await store.addEntity(NewEntity(name: "truck"), in: missing, at: .at(1))
                }
                try expect(try await store.entity(named: "truck", in: missing), is: nil, "entity")
                let list = try await store.entities(
                    in: missing, matching: EntityFilter(), page: Page(offset: 0, limit: 9))
                try expect(list.total, is: 0, "entities")
            },
        ]
    }
}
