import TrackModel
import TrackStore

extension TrackStoreContract {
    /// The end of a store.
    static var closing: [TrackStoreCheck] {
        [
            TrackStoreCheck("a closed store fails every call, and closing it again does nothing") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([subject.batch(service, first: 1, TrackPoint.samples(0..<3))])
                let mark = try await store.pushNews(after: nil, limit: 1).through
                try await store.close()
                let page = Page(offset: 0, limit: 9)
                try await expect(.closed) { try await store.createService(named: "late", at: .at(1)) }
                try await expect(.closed) { try await store.services() }
                try await expect(.closed) { try await store.keys(matching: AccessKey("key").hash) }
                let use = AccessKeyUse(service: service, hash: AccessKey("key").hash)
                try await expect(.closed) { try await store.endedKeys(among: [use], at: .at(1)) }
                try await expect(.closed) { try await store.signingKeys() }
                try await expect(.closed) { try await store.replaceSecret(with: "x", of: use) }
                try await expect(.closed) { try await store.setAppCode("x", of: service) }
                try await expect(.closed) { try await store.keys(of: service) }
                try await expect(.closed) { try await store.setKey(use, isDisabled: true) }
                try await expect(.closed) { try await store.renameService(service, to: "x") }
                try await expect(.closed) { try await store.addDevice(.sample(1, in: service)) }
                try await expect(.closed) { try await store.device(.sample(1)) }
                try await expect(.closed) { try await store.devices(in: nil, page: page) }
                try await expect(.closed) { try await store.changeDevice(.sample(1), .name("x")) }
                try await expect(.closed) { try await store.forgetDevice(.sample(1)) }
                try await expect(.closed) {
                    try await store.noteDevice(
                        .sample(1), DeviceRecord.Sighting(time: .at(1), address: "", agentVersion: ""))
                }
                try await expect(.closed) { try await store.deviceChanges(after: nil, limit: 1) }
                let token = NewToken.sample(1, in: service)
                try await expect(.closed) { try await store.addToken(token, at: .at(1)) }
                try await expect(.closed) { try await store.token(matching: token.hash) }
                try await expect(.closed) { try await store.tokens(in: nil) }
                try await expect(.closed) { try await store.revokeToken(1, at: .at(1)) }
                try await expect(.closed) { try await store.claim(.sample(1), at: .at(1)) }
                let renewal = RenewalRequest(keyHash: [], certificateEnd: .at(1))
                try await expect(.closed) { try await store.renew(renewal, at: .at(1)) }
                try await expect(.closed) { try await store.deviceCensus() }
                try await expect(.closed) { try await store.columns(of: .track, in: service) }
                try await expect(.closed) { try await store.entity(named: "truck", in: service) }
                try await expect(.closed) {
                    try await store.entities(in: service, matching: EntityFilter(), page: page)
                }
                try await expect(.closed) { try await store.addEntity(NewEntity(name: "van"), in: service, at: .at(1)) }
                try await expect(.closed) { try await store.deleteEntity(named: "truck", in: service, at: .at(1)) }
                try await expect(.closed) { try await store.openStream(.one, of: "truck", in: service, at: .at(1)) }
                try await expect(.closed) { try await store.history(in: service) }
                try await expect(.closed) { try await store.lastReceived() }
                try expect(
                    await store.ingest([subject.custom(service, [.sample(9)])]),
                    is: [.failed(TrackStoreError(.closed, ""))], "the outcome of a batch")
                try await expect(.closed) { try await store.pushNews(after: mark, limit: 9) }
                try await expect(.closed) {
                    try await store.pendingPushes(of: "truck", in: service, after: nil, at: .at(1), limit: 9)
                }
                let settlement = PushSettlement(id: 1, outcome: .acknowledged, time: .at(1))
                try await expect(.closed) { try await store.settlePushes([settlement]) }
                try await expect(.closed) {
                    try await store.pushes(in: service, matching: PushFilter(), at: .at(1), page: page)
                }
                try await expect(.closed) { try await store.removePushes(before: .at(1), limit: 9) }
                try await expect(.closed) { try await store.merge(limit: 9) }
                try await expect(.closed) { try await store.checkIntegrity() }
                try await expect(.closed) { try await store.counts() }
                try await expect(.closed) { try await store.size() }
                try await expect(.closed) { try await store.probe() }
                try await store.close()
            },
            TrackStoreCheck("a call that meets the closing ends with its value, or because the store is closed") {
                subject in
                let (store, service) = try await subject.withService()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<40 as Range<Int64> {
                        group.addTask {
                            do {
                                let claim = try await store.openStream(
                                    StreamID(high: 9, low: UInt64(number)), of: "truck", in: service, at: .at(number))
                                try expect(claim.epoch > 0, is: true, "the epoch")
                            } catch let error as TrackStoreError {
                                try expect(error.code, is: .closed, "the error of an opening: \(error.detail)")
                            }
                        }
                        group.addTask {
                            for outcome in await store.ingest([subject.custom(service, [.sample(number)])]) {
                                guard case .failed(let error) = outcome else { continue }
                                try expect(error.code, is: .closed, "the error of a batch: \(error.detail)")
                            }
                        }
                        group.addTask {
                            do {
                                _ = try await store.services()
                            } catch let error as TrackStoreError {
                                try expect(error.code, is: .closed, "the error of a reading: \(error.detail)")
                            }
                        }
                        if number == 20 { group.addTask { try await store.close() } }
                    }
                    try await group.waitForAll()
                }
                try await expect(.closed) { try await store.services() }
            },
        ]
    }
}
