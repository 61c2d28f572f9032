import TrackModel
package import TrackStore

extension TrackStoreContract {
    /// ``ChangeStore``, beside what the checks of fences, pushes and devices ask of it.
    package static var changes: [TrackStoreCheck] {
        [
            TrackStoreCheck("keys that are added, ended or made valid again are changes of their service") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(0)).id
                let (one, two) = (AccessKey("one").hash, AccessKey("two").hash)
                var feed = try await Feed(store)
                try await store.addKey(one, secret: nil, to: service, replacing: false, at: .at(1))
                try expect(try await feed.next(), is: [.keys(of: service)], "added")
                try await store.addKey(two, secret: nil, to: other, replacing: false, at: .at(1))
                try await store.addKey(two, secret: nil, to: service, replacing: true, at: .at(1))
                try expect(try await feed.next(), is: [.keys(of: other), .keys(of: service)], "replaced")
                try await store.setKey(AccessKeyUse(service: service, hash: one), isDisabled: false)
                try expect(try await feed.next(), is: [.keys(of: service)], "valid again")
                try await store.renameService(service, to: "x")
                try expect(try await feed.next(), is: [], "another name")
                try await store.deleteService(service)
                try expect(try await feed.next(), is: [.service(service)], "deleted")
            },
            TrackStoreCheck("a key whose end comes is a change at its time, once") { subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(0)).id
                for (name, owner, end) in [("a", service, 50), ("b", service, 60), ("c", other, 55), ("d", other, 99)] {
                    let rights = KeyRights(.former, end: .at(Int64(end)))
                    try await store.addKey(
                        KeyGrant(AccessKey(name).hash, secret: nil, rights: rights), to: owner, replacing: false,
                        at: .at(1))
                }
                var feed = try await Feed(store, at: 20)
                try expect(try await feed.next(at: 49), is: [], "before")
                try expect(try await feed.next(at: 50), is: [.keys(of: service)], "at its end")
                try expect(try await feed.next(at: 50), is: [], "once more")
                try expect(try await feed.next(at: 40), is: [], "with a clock that goes back")
                try expect(try await feed.next(at: 54), is: [], "and on again")
                try expect(Set(try await feed.next(at: 70)), is: [.keys(of: service), .keys(of: other)], "two ends")
                try expect(try await feed.next(at: 1000), is: [.keys(of: other)], "the last end")
            },
            TrackStoreCheck("a reader without a cursor gets kinds as unknown, and others go on from their cursor") {
                subject in
                let (store, service) = try await subject.withService()
                let kinds: Set<StoreChange.Kind> = [.access, .fences]
                let first = try await store.changes(of: kinds, after: nil, at: .at(1), limit: 9)
                try expect(first.unknown, is: kinds, "without a cursor")
                try expect(first.changes, is: [], "changes without a cursor")
                let pushes = try await store.changes(of: [.pushes], after: first.through, at: .at(1), limit: 9)
                try expect(pushes.unknown, is: [.pushes], "a kind that is asked for later")
                for number in 0..<5 {
                    try await store.addKey(
                        AccessKey("\(number)").hash, secret: nil, to: service, replacing: false, at: .at(1))
                }
                // The cursor of another kind has not moved.
                let some = try await store.changes(of: kinds, after: pushes.through, at: .at(1), limit: 4)
                try expect(some.changes.count, is: 4, "changes within the limit")
                try expect(some.hasMore, is: true, "that more wait")
                let rest = try await store.changes(of: kinds, after: some.through, at: .at(1), limit: 4)
                try expect(rest.changes.count, is: 1, "the rest")
                try expect(rest.hasMore, is: false, "that no more wait")
                try expect(rest.unknown, is: [], "what is unknown in the end")
                try await expect(.failed) {
                    try await store.changes(of: kinds, after: StoreCursor(1), at: .at(1), limit: 9)
                }
            },
        ]
    }

    /// A reader of all changes.
    private struct Feed {
        private let store: any TrackStore
        private var cursor: StoreCursor

        init(_ store: any TrackStore, at second: Int64 = 0) async throws {
            self.store = store
            let all = Set(StoreChange.Kind.allCases)
            cursor = try await store.changes(of: all, after: nil, at: .at(second), limit: 1).through
        }

        mutating func next(at second: Int64 = 0) async throws -> [StoreChange] {
            let found = try await store.changes(
                of: Set(StoreChange.Kind.allCases), after: cursor, at: .at(second), limit: 100)
            try expect(found.unknown, is: [], "what is unknown")
            cursor = found.through
            return found.changes
        }
    }
}

/// One kind of change alone.
extension ChangeStore {
    package func deviceChanges(
        after cursor: StoreCursor?, limit: Int
    ) async throws(TrackStoreError) -> (through: StoreCursor, devices: [DeviceID]) {
        let found = try await changes(of: [.access], after: cursor, at: .at(0), limit: limit)
        return (found.through, found.changes.compactMap { if case .device(let device) = $0 { device } else { nil } })
    }

    package func pushNotices(
        after cursor: StoreCursor?, limit: Int
    ) async throws(TrackStoreError) -> (through: StoreCursor, notices: [PushQueuedNotice]) {
        let found = try await changes(of: [.pushes], after: cursor, at: .at(0), limit: limit)
        return (found.through, found.changes.compactMap { if case .push(let notice) = $0 { notice } else { nil } })
    }

    /// `notices`: nil when the store does not know all changes after the cursor.
    package func fenceNotices(
        after cursor: StoreCursor?, limit: Int
    ) async throws(TrackStoreError) -> (through: StoreCursor, notices: [FenceChangeNotice]?) {
        let found = try await changes(of: [.fences], after: cursor, at: .at(0), limit: limit)
        let notices = found.changes.compactMap { if case .fence(let notice) = $0 { notice } else { nil } }
        return (found.through, cursor != nil && !found.unknown.isEmpty ? nil : notices)
    }
}
