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
                try await expect(.unknownService) {
                    try await store.ensureEntity(named: "truck", in: missing, at: .at(1))
                }
                try expect(try await store.entity(named: "truck", in: missing), is: nil, "entity")
                let list = try await store.entities(
                    in: missing, matching: EntityFilter(), page: Page(offset: 0, limit: 9))
                try expect(list.total, is: 0, "entities")
            },
        ]
    }
}
