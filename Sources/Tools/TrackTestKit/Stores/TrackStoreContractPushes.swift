import Geofencing
import TrackModel
import TrackStore

extension TrackStoreContract {
    /// ``PushStore``
    package static var pushes: [TrackStoreCheck] {
        [
            TrackStoreCheck("a push waits for each of its targets until that one acknowledges it") { subject in
                let (store, service) = try await subject.withPushTargets()
                let queued = try await store.queuePush(
                    .sample("a", to: ["van", "truck", "van"]), in: service, at: .at(10))
                try expect(queued.count, is: 2, "targets")
                let van = try await store.pending("van", in: service)
                let truck = try await store.pending("truck", in: service)
                try expect(van.map(\.body), is: ["a"], "of the van")
                try expect(truck.map(\.body), is: ["a"], "of the truck")
                try expect(van.first?.created, is: .at(10), "its time")
                try expect(van.first?.message, is: queued.message, "its message")
                try expect(van.first?.type, is: PushRules.message, "its type")
                try expect(Set((van + truck).map(\.id)).count, is: 2, "different numbers")
                try expect(try await store.pending("bus", in: service), is: [], "of the bus")
                try await store.settlePushes(van.map { $0.settled(.acknowledged, 12) })
                try expect(try await store.pending("van", in: service), is: [], "of the van afterwards")
                try expect(try await store.pending("truck", in: service).count, is: 1, "of the truck afterwards")
                // Again, and another outcome: the first one counts. A number that nobody has changes nothing.
                try await store.settlePushes(
                    van.map { $0.settled(.acknowledged, 20) } + van.map { $0.settled(.givenUp, 21) }
                        + [
                            PushSettlement(id: 5, outcome: .acknowledged, time: .at(1)),
                            PushSettlement(id: .max, outcome: .acknowledged, time: .at(1)),
                        ])
                let history = try await store.list(service, PushFilter(entity: "van"), at: 30)
                try expect(history.map(\.acknowledged), is: [.at(12)], "when it was acknowledged")
                try expect(history.map(\.givenUp), is: [nil], "that it was given up")
                try expect(history.map { $0.state(at: .at(30)) }, is: [.delivered], "its state")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("the operator's messages do not wait behind those that vehicles cause") { subject in
                let (store, service) = try await subject.withPushTargets()
                func alarm(_ number: UInt8) -> NewPush {
                    let key = AlarmKey(bytes: [UInt8](repeating: number, count: 16))
                    return NewPush(
                        type: PushRules.vehicleAlarm, body: "\(number)", targets: .entities(["van"]), alarm: key,
                        about: "bus")
                }
                for number in 1...3 as ClosedRange<UInt8> {
                    _ = try await store.queuePush(alarm(number), in: service, at: .at(1))
                }
                _ = try await store.queuePush(.sample("a", to: ["van"]), in: service, at: .at(2))
                func next(_ cursor: StoreCursor?, _ limit: Int) async throws -> (StoreCursor, [String]) {
                    let found = try await store.pendingPushes(
                        of: "van", in: service, after: cursor, at: .at(3), limit: limit)
                    return (found.through, found.pushes.map(\.body))
                }
                let (first, texts) = try await next(nil, 2)
                try expect(texts, is: ["a", "1"], "the first ones")
                _ = try await store.queuePush(.sample("b", to: ["van"]), in: service, at: .at(2))
                let (second, more) = try await next(first, 2)
                try expect(more, is: ["b", "2"], "the next ones")
                let (third, last) = try await next(second, 2)
                try expect(last, is: ["3"], "the last one")
                try expect(try await next(third, 2).1, is: [], "nothing more")
            },
            TrackStoreCheck("so many messages about others wait for an entity, and further ones are counted") {
                subject in
                let (store, service) = try await subject.withPushTargets()
                func alarm(_ number: Int, about entity: String) -> NewPush {
                    let bytes = [UInt8](repeating: 0, count: 14) + [UInt8(number >> 8 & 255), UInt8(number & 255)]
                    let key = AlarmKey(bytes: bytes)
                    return NewPush(
                        type: PushRules.vehicleAlarm, body: "{}", targets: .entities(["van", "truck"]), alarm: key,
                        about: entity)
                }
                for number in 0..<PushRules.mostWaiting {
                    let queued = try await store.queuePush(alarm(number, about: "bus"), in: service, at: .at(1))
                    try expect([queued.count, queued.leftOut], is: [2, 0], "one that has room")
                }
                try expect(await store.pushesLeftOut(), is: 0, "left out")
                let full = try await store.queuePush(alarm(5000, about: "bus"), in: service, at: .at(1))
                try expect([full.count, full.leftOut], is: [0, 2], "one without room")
                // What an entity has done itself, and what the operator says, comes all the same.
                let own = try await store.queuePush(alarm(5001, about: "van"), in: service, at: .at(1))
                try expect([own.count, own.leftOut], is: [1, 1], "one of the van's own")
                let word = try await store.queuePush(.sample("a", to: ["van"]), in: service, at: .at(1))
                try expect(word.count, is: 1, "the operator's")
                // Room comes with acknowledgements.
                let waiting = try await store.pendingPushes(
                    of: "van", in: service, after: nil, at: .at(2), limit: 10
                ).pushes
                try await store.settlePushes(waiting.map { $0.settled(.acknowledged, 12) })
                let next = try await store.queuePush(alarm(5002, about: "bus"), in: service, at: .at(3))
                try expect([next.count, next.leftOut], is: [1, 1], "one after others were acknowledged")
            },
            TrackStoreCheck("a push to the service is for those that it has then, and no other service's") { subject in
                let (store, service) = try await subject.withPushTargets()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try await store.haveEntity(named: "van", in: other, at: .at(1))
                let queued = try await store.queuePush(
                    NewPush(type: 3, body: "{}", targets: .service), in: service, at: .at(2))
                try await store.haveEntity(named: "late", in: service, at: .at(3))
                try expect(queued.count, is: 3, "targets")
                for name in ["bus", "truck", "van"] {
                    try expect(try await store.pending(name, in: service).map(\.type), is: [3], name)
                }
                try expect(try await store.pending("late", in: service), is: [], "who came later")
                try expect(try await store.pending("van", in: other), is: [], "the other service")
                try expect(try await store.list(other), is: [], "history of the other service")
                // Names are the same when their bytes are.
                try await store.haveEntity(named: "caf\u{E9}", in: service, at: .at(4))
                try await store.haveEntity(named: "cafe\u{301}", in: service, at: .at(4))
                _ = try await store.queuePush(.sample("x", to: ["caf\u{E9}"]), in: service, at: .at(5))
                try expect(try await store.pending("cafe\u{301}", in: service), is: [], "another spelling")
                try expect(try await store.pending("caf\u{E9}", in: service).count, is: 1, "this spelling")
            },
            TrackStoreCheck("a push that breaks a rule, or names what is not there, is not queued at all") { subject in
                let (store, service) = try await subject.withPushTargets()
                try await expect(.unknownEntity) {
                    try await store.queuePush(.sample("a", to: ["van", "ghost"]), in: service, at: .at(1))
                }
                if let missing = ServiceID(rawValue: service.rawValue + 7) {
                    try await expect(.unknownService) {
                        try await store.queuePush(.sample("a", to: []), in: missing, at: .at(1))
                    }
                    try expect(try await store.pending("van", in: missing), is: [], "of a missing service")
                    try expect(try await store.list(missing), is: [], "history of a missing service")
                }
                let long = String(repeating: "x", count: PushRules.maximumBodyBytes + 1)
                for push in [
                    NewPush(type: 0, body: "{}", targets: .service), NewPush(type: 256, body: "{}", targets: .service),
                    NewPush(type: 65, body: long, targets: .service),
                    NewPush(type: 65, body: "{}", targets: .service, lifetime: 0),
                    NewPush(type: 65, body: "{}", targets: .service, lifetime: PushRules.history + 1),
                ] {
                    try await expect(.failed) { try await store.queuePush(push, in: service, at: .at(1)) }
                }
                try expect(try await store.list(service), is: [], "history")
            },
            TrackStoreCheck("pending pushes come in order, so many, and while they live") { subject in
                let (store, service) = try await subject.withPushTargets()
                for number in 1...5 {
                    _ = try await store.queuePush(
                        .sample("\(number)", to: ["van"], lifetime: Int64(number) * 1000), in: service, at: .at(0))
                }
                func bodies(at time: Int64 = 0, limit: Int = 9) async throws -> [String] {
                    try await store.pendingPushes(
                        of: "van", in: service, after: nil, at: .at(time), limit: limit
                    ).pushes.map(\.body)
                }
                try expect(try await bodies(), is: ["1", "2", "3", "4", "5"], "all")
                try expect(try await bodies(limit: 2), is: ["1", "2"], "two")
                try expect(try await bodies(limit: 0), is: [], "none")
                let messages = try await store.pending("van", in: service).map(\.message)
                try expect(Set(messages).count, is: 5, "numbers of messages")
                try expect(try await bodies(at: 3), is: ["4", "5"], "after three seconds")
                try expect(try await bodies(at: 5), is: [], "after five seconds")
                let expired = try await store.list(service, PushFilter(state: .expired), at: 3)
                try expect(expired.map(\.push.body), is: ["3", "2", "1"], "expired")
            },
            TrackStoreCheck("whoever follows the marks of pending pushes is told of all of them") {
                subject in
                let (store, service) = try await subject.withPushTargets()
                for number in 1...5 {
                    _ = try await store.queuePush(.sample("\(number)", to: ["van"]), in: service, at: .at(0))
                }
                var cursor: StoreCursor?
                var told: [String] = []
                // A store may tell again of what it has told; so the first time counts.
                func follow(_ limit: Int) async throws -> Int {
                    let (through, pushes) = try await store.pendingPushes(
                        of: "van", in: service, after: cursor, at: .at(0), limit: limit)
                    cursor = through
                    for push in pushes where !told.contains(push.body) { told.append(push.body) }
                    return pushes.count
                }
                var rounds = 0
                while try await follow(2) == 2, rounds < 50 { rounds += 1 }
                try expect(told, is: ["1", "2", "3", "4", "5"], "told in steps of two")
                _ = try await follow(9)
                try expect(told.count, is: 5, "once more")
                // To another entity, and the cursor stays good.
                _ = try await store.queuePush(.sample("bus", to: ["bus"]), in: service, at: .at(0))
                _ = try await follow(9)
                _ = try await store.queuePush(.sample("6", to: ["van"]), in: service, at: .at(0))
                _ = try await follow(9)
                try expect(told.last, is: "6", "what came after the last mark")
                try expect(told.count, is: 6, "in the end")
                // A cursor that brought nothing, of an entity that is not there yet.
                let none = try await store.pendingPushes(
                    of: "late", in: service, after: nil, at: .at(0), limit: 9)
                try expect(none.pushes, is: [], "of nobody")
                try await store.haveEntity(named: "late", in: service, at: .at(0))
                _ = try await store.queuePush(.sample("7", to: ["late"]), in: service, at: .at(0))
                let late = try await store.pendingPushes(
                    of: "late", in: service, after: none.through, at: .at(0), limit: 9)
                try expect(late.pushes.map(\.body), is: ["7"], "of one who came late")
                try await expect(.failed) {
                    try await store.pendingPushes(
                        of: "van", in: service, after: StoreCursor("foreign"), at: .at(0), limit: 9)
                }
            },
            TrackStoreCheck("word of messages goes round once, in order, and to all where they are many") { subject in
                let (store, service) = try await subject.withPushTargets()
                _ = try await store.queuePush(.sample("old", to: ["van"]), in: service, at: .at(0))
                let start = try await store.pushNotices(after: nil, limit: 9)
                try expect(start.notices, is: [], "notices before any change")
                let first = try await store.queuePush(.sample("1", to: ["van", "bus"]), in: service, at: .at(1))
                for number in 0..<PushQueuedNotice.maximumEntities {
                    try await store.haveEntity(named: "e\(number)", in: service, at: .at(1))
                }
                let second = try await store.queuePush(
                    NewPush(type: 65, body: "{}", targets: .service), in: service, at: .at(1))
                let both = try await store.pushNotices(after: start.through, limit: 9)
                try expect(both.notices.map(\.message), is: [first.message, second.message], "messages")
                try expect(both.notices.map { $0.entities?.sorted() }, is: [["bus", "van"], nil], "whose")
                try expect(both.notices.map(\.service), is: [service, service], "services")
                let one = try await store.pushNotices(after: start.through, limit: 1)
                try expect(one.notices.map(\.message), is: [first.message], "one message")
                let rest = try await store.pushNotices(after: one.through, limit: 9)
                try expect(rest.notices.map(\.message), is: [second.message], "the rest")
                let none = try await store.pushNotices(after: both.through, limit: 9)
                try expect(none.notices, is: [], "notices once more")
                let third = try await store.queuePush(.sample("3", to: ["bus"]), in: service, at: .at(2))
                let later = try await store.pushNotices(after: none.through, limit: 9)
                try expect(later.notices.map(\.message), is: [third.message], "after a mark that brought no notice")
                try await expect(.failed) { try await store.pushNotices(after: StoreCursor(1), limit: 9) }
            },
            TrackStoreCheck("the history lists what there was, by entity, state and page, until it is removed") {
                subject in
                let (store, service) = try await subject.withPushTargets()
                for number in 1...3 as ClosedRange<Int64> {
                    _ = try await store.queuePush(
                        NewPush(type: 65, body: "\(number)", targets: .service), in: service, at: .at(number * 10))
                }
                let van = try await store.pending("van", in: service)
                try await store.settlePushes([
                    van[0].settled(.givenUp, 700), van[1].settled(.givenUp, 701), van[1].settled(.acknowledged, 702),
                ])
                let page = try await store.pushes(
                    in: service, matching: PushFilter(), at: .at(800), page: Page(offset: 2, limit: 3))
                try expect(page.total, is: 9, "all")
                try expect(
                    page.pushes.map { "\($0.entity) \($0.push.body)" }, is: ["van 3", "bus 2", "truck 2"], "a page")
                let cases: [(PushFilter, [String])] = [
                    (PushFilter(entity: "van"), ["3", "2", "1"]), (PushFilter(entity: "van", state: .givenUp), ["1"]),
                    (PushFilter(state: .delivered), ["2"]), (PushFilter(entity: "van", state: .waiting), ["3"]),
                    (PushFilter(entity: "ghost"), []), (PushFilter(state: .expired), []),
                ]
                for (filter, bodies) in cases {
                    try expect(
                        try await store.list(service, filter, at: 800).map(\.push.body), is: bodies, "\(filter)")
                }
                let record = try await store.list(service, PushFilter(entity: "van", state: .givenUp), at: 800).first
                try expect(record?.givenUp, is: .at(700), "when it was given up")
                try expect(record?.expires, is: .at(10).adding(milliseconds: PushRules.history), "its end")
                var removed: [Int] = []
                repeat {
                    removed.append(try await store.removePushes(before: .at(30), limit: 4))
                } while removed.last != 0
                try expect(removed.reduce(0, +), is: 6, "removed")
                try expect(try await store.list(service).map(\.push.body), is: ["3", "3", "3"], "what is left")
                let former = Set(try await store.list(service).map(\.push.message) + page.pushes.map(\.push.message))
                _ = try await store.removePushes(before: .at(31), limit: 100)
                _ = try await store.removePushes(before: .at(31), limit: 100)
                let next = try await store.queuePush(.sample("new", to: ["van"]), in: service, at: .at(40))
                try expect(former.contains(next.message), is: false, "that a message's number is used again")
                try expect(try await store.checkIntegrity(), is: [], "integrity")
            },
            TrackStoreCheck("what points bring about is queued with them, and only with them") { subject in
                let (store, service) = try await subject.withPushTargets()
                var batch = subject.batch(service, entity: "van", first: 1, TrackPoint.samples(1...4))
                batch.pushes = [
                    CausedPush(by: 2, .sample("two", to: ["bus", "ghost"])),
                    CausedPush(by: 4, .sample("four", to: ["bus"])),
                ]
                try expect(try await store.upload([batch]), is: [.stored(through: 4)], "the outcome")
                try expect(try await store.upload([batch]), is: [.duplicate(through: 4)], "the second outcome")
                try expect(try await store.pending("bus", in: service).map(\.body), is: ["two", "four"], "queued")
                // Half of it had been stored before.
                var half = subject.batch(service, entity: "van", first: 4, TrackPoint.samples(4...5))
                half.pushes = [
                    CausedPush(by: 4, .sample("again", to: ["bus"])), CausedPush(by: 5, .sample("five", to: ["bus"])),
                ]
                var custom = subject.custom(service, entity: "van", TrackPoint.samples([9]))
                custom.pushes = [CausedPush(by: nil, .sample("custom", to: ["bus"]))]
                try expect(
                    try await store.upload([half, custom]), is: [.stored(through: 5), .stored(through: 0)], "outcomes")
                try expect(
                    try await store.pending("bus", in: service).map(\.body), is: ["two", "four", "five", "custom"],
                    "queued in the end")
                try expect(
                    try await store.pending("bus", in: service).first?.created, is: batch.received, "when it was queued"
                )
                var wrong = subject.batch(service, entity: "van", first: 6, TrackPoint.samples([10]))
                wrong.pushes = [CausedPush(by: 6, NewPush(type: 0, body: "{}", targets: .service))]
                try expect(
                    try await store.upload([wrong]).first.map { if case .failed = $0 { true } else { false } },
                    is: true,
                    "that a wrong push fails its batch")
                try expect(
                    try await store.storedThrough(.one, of: "van", in: service), is: 5, "the stream")
            },
        ]
    }
}

extension TrackStoreSubject {
    /// A new store with one service of three entities: bus, truck, van.
    fileprivate func withPushTargets() async throws -> (store: any TrackStore, service: ServiceID) {
        let (store, service) = try await withService()
        for name in ["van", "bus", "truck"] { try await store.haveEntity(named: name, in: service, at: .at(0)) }
        return (store, service)
    }
}

extension TrackStore {
    fileprivate func pending(_ entity: String, in service: ServiceID) async throws -> [PendingPush] {
        try await pendingPushes(of: entity, in: service, after: nil, at: .at(0), limit: 100).pushes
    }

    fileprivate func list(
        _ service: ServiceID, _ filter: PushFilter = PushFilter(), at time: Int64 = 0
    ) async throws -> [PushRecord] {
        try await pushes(in: service, matching: filter, at: .at(time), page: Page(offset: 0, limit: 1000)).pushes
    }
}

extension NewPush {
    fileprivate static func sample(
        _ body: String, to entities: [String], lifetime: Int64 = PushRules.history
    ) -> NewPush {
        NewPush(type: PushRules.message, body: body, targets: .entities(entities), lifetime: lifetime)
    }
}

extension PendingPush {
    fileprivate func settled(_ outcome: PushSettlement.Outcome, _ time: Int64) -> PushSettlement {
        PushSettlement(id: id, outcome: outcome, time: .at(time))
    }
}
