import Geodesy
import Geofencing
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``CallbackStore``
    package static var callbacks: [TrackStoreCheck] {
        [
            TrackStoreCheck("alarms wait for the operator's URL in their order until they have ended") { subject in
                let (store, service) = try await subject.withFleet()
                try await subject.alarm(1, in: service, store)
                try expect(try await store.callback(of: service), is: nil, "the target at first")
                try expect(try await store.dueCallbacks(at: .at(100), limit: 9), is: [], "due without a target")
                try await store.setCallback(.sample, of: service)
                try expect(try await store.callback(of: service), is: .sample, "the target")
                try expect(try await store.dueCallbacks(at: .at(100), limit: 9), is: [], "due without an alarm")
                for mark in 2...4 as ClosedRange<UInt8> { try await subject.alarm(mark, in: service, store) }
                try await subject.alarm(5, in: service, store, isCalledBack: false)
                try expect(try await store.dueCallbacks(at: .at(100), limit: 9), is: [service], "due with alarms")
                let claim = try await store.claim(service, by: 7, at: 100, limit: 2)
                try expect(claim?.target, is: .sample, "the claim's target")
                try expect(claim?.marks, is: [2, 3], "the claim's alarms")
                try expect(claim?.callbacks.map(\.firstTried), is: [nil, nil], "when they were tried first")
                let numbers = claim?.callbacks.map(\.alarm.number) ?? []
                let settled = try await store.settleCallbacks(
                    CallbackSettlement(
                        service: service, ended: Array(numbers.prefix(1)), failed: Array(numbers.suffix(1)),
                        time: .at(101), retryAt: .at(115)), by: 7)
                try expect(settled, is: true, "that the claim held")
                try expect(try await store.dueCallbacks(at: .at(114), limit: 9), is: [], "due before the next try")
                try expect(
                    try await store.claim(service, by: 7, at: 114, limit: 9)?.marks, is: nil, "a claim too early")
                try expect(try await store.dueCallbacks(at: .at(115), limit: 9), is: [service], "due for the next try")
                let next = try await store.claim(service, by: 8, at: 115, limit: 9)
                try expect(next?.marks, is: [3, 4], "the next claim's alarms")
                try expect(next?.callbacks.map(\.firstTried), is: [.at(101), nil], "when those were tried first")
                let rest = next?.callbacks.map(\.alarm.number) ?? []
                for time in [130, 145] as [Int64] {
                    _ = try await store.settleCallbacks(
                        CallbackSettlement(
                            service: service, ended: [], failed: rest, time: .at(time), retryAt: nil), by: 8)
                    let again = try await store.claim(service, by: 8, at: time, limit: 9)
                    try expect(
                        again?.callbacks.map(\.firstTried), is: [.at(101), .at(130)], "tried first, as at first")
                }
                _ = try await store.settleCallbacks(
                    CallbackSettlement(service: service, ended: rest, failed: [], time: .at(150), retryAt: nil), by: 8)
                try expect(try await store.dueCallbacks(at: .at(900), limit: 9), is: [], "due in the end")
                try expect(
                    try await store.claim(service, by: 8, at: 900, limit: 9)?.marks, is: nil, "a claim in the end")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("one sender at a time has the claim on a service") { subject in
                let (store, service) = try await subject.withFleet()
                try await store.setCallback(.sample, of: service)
                try await subject.alarm(1, in: service, store)
                try expect(try await store.claim(service, by: 7, at: 100, limit: 9)?.marks, is: [1], "the claim")
                try expect(try await store.dueCallbacks(at: .at(160), limit: 9), is: [], "due while it is claimed")
                try expect(try await store.claim(service, by: 8, at: 160, limit: 9)?.marks, is: nil, "another's claim")
                try expect(try await store.claim(service, by: 7, at: 160, limit: 9)?.marks, is: [1], "its own again")
                // The first sender is gone: its claim ends by itself.
                try expect(try await store.dueCallbacks(at: .at(221), limit: 9), is: [service], "due after the claim")
                try expect(try await store.claim(service, by: 8, at: 221, limit: 9)?.marks, is: [1], "the next claim")
                let late = try await store.settleCallbacks(
                    CallbackSettlement(service: service, ended: [1], failed: [], time: .at(222), retryAt: nil), by: 7)
                try expect(late, is: false, "that the first claim holds")
                try expect(try await store.claim(service, by: 8, at: 222, limit: 9)?.marks, is: [1], "what still waits")
            },
            TrackStoreCheck("without its URL nothing waits, and with another URL everything goes there") { subject in
                let (store, service) = try await subject.withFleet()
                try await store.setCallback(.sample, of: service)
                try await subject.alarm(1, in: service, store)
                let claim = try await store.claim(service, by: 7, at: 100, limit: 9)
                _ = try await store.settleCallbacks(
                    CallbackSettlement(
                        service: service, ended: [], failed: claim?.callbacks.map(\.alarm.number) ?? [],
                        time: .at(101), retryAt: .at(900)), by: 7)
                let other = CallbackTarget(url: "https://b.example/alarms", secret: "s2")
                try await store.setCallback(other, of: service)
                let moved = try await store.claim(service, by: 8, at: 102, limit: 9)
                try expect(moved?.target, is: other, "the other target")
                try expect(moved?.callbacks.map(\.firstTried), is: [nil], "when it was tried first there")
                try await store.setCallback(nil, of: service)
                try expect(try await store.callback(of: service), is: nil, "the target in the end")
                try expect(try await store.claim(service, by: 8, at: 103, limit: 9)?.marks, is: nil, "what waits then")
                let settled = try await store.settleCallbacks(
                    CallbackSettlement(service: service, ended: [], failed: [], time: .at(104), retryAt: nil), by: 8)
                try expect(settled, is: false, "that the claim holds")
                try await store.setCallback(.sample, of: service)
                try expect(try await store.dueCallbacks(at: .at(105), limit: 9), is: [], "due with a new target")
                // Who leaves the history leaves the queue.
                try await subject.alarm(2, in: service, store)
                try expect(try await store.removeAlarms(before: .at(1_000_000), limit: 9), is: 2, "removed alarms")
                try expect(try await store.dueCallbacks(at: .at(106), limit: 9), is: [], "due without alarms")
                let nowhere = ServiceID(rawValue: 99) ?? service
                try await expect(.unknownService) { try await store.setCallback(.sample, of: nowhere) }
                try await expect(.unknownService) { try await store.callback(of: nowhere) }
                let long = CallbackTarget(url: String(repeating: "u", count: 2049), secret: "s")
                try await expect(.failed) { try await store.setCallback(long, of: service) }
            },
        ]
    }

    /// ``DistrictStore``
    package static var districts: [TrackStoreCheck] {
        [
            TrackStoreCheck("an import takes the place of the districts of its source, and of no other's") { subject in
                let store = try await subject.make()
                let begin = try await store.districts(unless: nil)
                try expect(begin.entries, is: [], "at first")
                try expect(try await store.districts(unless: begin.version).entries, is: nil, "what is known already")
                try await store.replaceDistricts(
                    of: "china", with: [.sample("雨花区", parent: 1, 1), .sample("长沙市", parent: 2, 2), .sample("湖南省", 3)])
                try await store.replaceDistricts(of: "other", with: [.sample("Utrecht", 4)])
                let list = try await store.districts(unless: begin.version)
                let entries = list.entries ?? []
                try expect(list.version != begin.version, is: true, "that the version is another one")
                try expect(entries.map(\.name), is: ["雨花区", "长沙市", "湖南省", "Utrecht"], "names")
                try expect(entries.map(\.source), is: ["china", "china", "china", "other"], "sources")
                let byID = Dictionary(entries.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
                try expect(
                    entries.map { $0.parent.flatMap { byID[$0] } }, is: ["长沙市", "湖南省", nil, nil], "parents")
                for (entry, size) in zip(entries, 1...) {
                    try expect(
                        try await store.districtShape(entry.id), is: NewDistrict.sample("", size).shape, entry.name)
                }
                try await expect(.failed) {
                    try await store.replaceDistricts(of: "china", with: [.sample("x", parent: 1, 1)])
                }
                try expect(try await store.districts(unless: list.version).entries, is: nil, "after a refusal")
                try await store.replaceDistricts(of: "china", with: [.sample("湖南省", 9)])
                let next = try await store.districts(unless: list.version).entries ?? []
                try expect(next.map(\.name), is: ["Utrecht", "湖南省"], "after another import")
                try expect(entries.map(\.id).contains(next.last?.id ?? 0), is: false, "that a number is used again")
                try expect(try await store.districtShape(entries[0].id), is: nil, "the shape of one that is gone")
                try await store.replaceDistricts(of: "other", with: [])
                try expect(
                    try await store.districts(unless: list.version).entries?.map(\.name), is: ["湖南省"], "in the end")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            }
        ]
    }
}

extension TrackStoreSubject {
    /// Stores an alarm of the van.
    fileprivate func alarm(
        _ mark: UInt8, in service: ServiceID, _ store: any TrackStore, isCalledBack: Bool = true
    ) async throws {
        var batch = custom(service, entity: "van", [.sample(Int64(mark))], received: .at(Int64(mark)))
        batch.alarms = [CausedAlarm(try .sample(Int64(mark), mark: mark), isCalledBack: isCalledBack)]
        _ = await store.ingest([batch])
    }
}

extension TrackStore {
    /// A claim of a minute and a second.
    fileprivate func claim(
        _ service: ServiceID, by sender: Int64, at time: Int64, limit: Int
    ) async throws(TrackStoreError) -> CallbackClaim? {
        try await claimCallbacks(of: service, by: sender, at: .at(time), through: .at(time + 60), limit: limit)
    }
}

extension CallbackClaim {
    fileprivate var marks: [UInt8] { callbacks.compactMap(\.alarm.alarm.key.bytes.first) }
}

extension CallbackTarget {
    fileprivate static var sample: CallbackTarget { CallbackTarget(url: "https://a.example/alarms", secret: "s1") }
}

extension NewDistrict {
    fileprivate static func sample(_ name: String, parent: Int? = nil, _ size: Int) -> NewDistrict {
        let ring = [(0, 0), (0, size), (size, size), (size, 0)].map {
            Degrees(latitude: Double($0.0), longitude: Double($0.1))
        }
        return NewDistrict(name: name, parent: parent, shape: ShapeDraft(.polygon([[ring]])))
    }
}
