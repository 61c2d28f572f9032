import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``StoreMaintenance``; merging is asked of every random history of ``points``.
    package static var upkeep: [TrackStoreCheck] { merging + closing }

    private static var merging: [TrackStoreCheck] {
        [
            TrackStoreCheck("a store counts what it holds") { subject in
                let store = try await subject.make()
                try expect(
                    try await store.counts(), is: StoreCounts(services: 0, entities: 0, chunks: 0, points: 0), "empty")
                let service = try await store.createService(named: "fleet", at: .at(0)).id
                _ = try await store.upload([
                    subject.batch(service, entity: "a", first: 1, TrackPoint.samples(0..<6)),
                    subject.batch(service, entity: "b", first: 7, TrackPoint.samples(0..<3)),
                ])
                let counts = try await store.counts()
                try expect([counts.services, counts.entities, counts.points], is: [1, 2, 9], "counts")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("merging comes to an end and changes no range") { subject in
                let (store, service) = try await subject.withService()
                for index in 0..<120 as Range<Int64> {
                    let points = TrackPoint.samples((index * 6)..<(index * 6 + 6))
                    _ = try await store.upload([
                        subject.batch(service, first: UInt64(index * 6 + 1), points, received: .at(index))
                    ])
                }
                let history = try await store.history(in: service)
                var rounds = 0
                while try await store.merge(limit: 10) > 0 {
                    rounds += 1
                    try expect(rounds < 1000, is: true, "merging comes to an end")
                }
                try expect(try await store.history(in: service), is: history, "points")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("small chunks wait for an hour by the clock of whoever merges") { subject in
                let (store, service) = try await subject.withService()
                for index in 0..<8 as Range<Int64> {
                    let points = TrackPoint.samples((index * 6)..<(index * 6 + 6))
                    _ = try await store.upload([subject.custom(service, points, received: .at(50 + index))])
                }
                let (history, before) = (try await store.history(in: service), try await store.counts().chunks)
                for time in [Timestamp(milliseconds: .min), .at(0), .at(50 + 3599)] {
                    try expect(try await store.mergeChunks(limit: 100, at: time), is: 0, "merged at \(time)")
                }
                try expect(try await store.counts().chunks, is: before, "chunks before the hour has passed")
                for time in [.at(50 + 3600), Timestamp(milliseconds: .max)] {
                    let replaced = try await store.mergeChunks(limit: 100, at: time)
                    try expect((0...before).contains(replaced), is: true, "\(replaced) replaced at \(time)")
                }
                try expect(try await store.history(in: service), is: history, "points")
            },
            TrackStoreCheck("merging beside deletions brings nothing back and loses nothing of others") { subject in
                let (store, service) = try await subject.withService()
                @Sendable func fill(_ entity: String, _ second: Int64) async throws {
                    let batches = (0..<20 as Range<Int64>).map {
                        subject.custom(service, entity: entity, [.sample(second * 20 + $0)], received: .at(0))
                    }
                    for outcome in await store.ingest(batches) {
                        try expect(outcome.isKept, is: true, "that \(outcome) is stored")
                    }
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for round in 0..<30 as Range<Int64> {
                            try await fill("truck", round)
                            if round % 3 == 2 {
                                try await store.deleteEntity(named: "truck", in: service, at: .at(round))
                            }
                            try await fill("van", round)
                        }
                        try await fill("truck", 30)
                    }
                    group.addTask {
                        for _ in 0..<60 {
                            _ = try await store.merge(limit: 30)
                            await Task.yield()
                        }
                    }
                    try await group.waitForAll()
                }
                while try await store.merge(limit: 100) > 0 {}
                try expect(
                    try await store.history(in: service).map(\.point), is: TrackPoint.samples(600..<620), "made again")
                try expect(
                    try await store.history(of: "van", in: service).map(\.point), is: TrackPoint.samples(0..<600),
                    "another entity")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("a store that works answers a probe, before its first service too") { subject in
                let (store, _) = try await subject.withService()
                for _ in 0..<2 { try await store.probe() }
            },
            TrackStoreCheck("what a store holds takes room") { subject in
                let (store, service) = try await subject.withService()
                let empty = try await store.size().bytes
                try expect(empty >= 0, is: true, "\(empty) bytes of an empty store")
                for index in 0..<20 as Range<Int64> {
                    let points = TrackPoint.samples((index * 1000)..<(index * 1000 + 1000), mark: index + 1)
                    _ = try await store.upload([subject.custom(service, points)])
                }
                let size = try await store.size()
                try expect(size.bytes > empty, is: true, "that \(size.bytes) bytes are more than \(empty)")
                if let available = size.availableBytes { try expect(available > 0, is: true, "room") }
            },
        ]
    }
}

extension TrackStoreContract {
    /// The end of a store.
    static var closing: [TrackStoreCheck] {
        [
            TrackStoreCheck("a closed store fails every call, and closing it again does nothing") { subject in
                let (store, service) = try await subject.withService()
                _ = try await store.upload([subject.batch(service, first: 1, TrackPoint.samples(0..<3))])
                let mark = try await store.pushNotices(after: nil, limit: 1).through
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
                try await expect(.closed) { try await store.pushNotices(after: mark, limit: 9) }
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
