import JSON
package import TrackModel
package import TrackStore

/// Decides which services are served now, and what becomes of alarms after a try. No I/O, no clock.
package struct CallbackMachine: Hashable, Sendable {
    /// What the operator of this server should know.
    package enum OperatorNotice: Hashable, Sendable {
        /// The service's URL takes no alarms any more, and why.
        case failing(String)
        case working
        /// The store does not give the alarms, or does not take what became of them, and why. No URL has anything to do with it.
        case storeFailing(String)
        case storeWorking
    }

    private var underWay: Set<ServiceID> = []
    private var failing: Set<ServiceID> = []
    /// Services for which the store refuses what sending needs; nil: it does not say which services are due.
    private var storeFailing: Set<ServiceID?> = []
    /// The queue of these cannot be read: they are left alone until then.
    private var held: [ServiceID: Timestamp] = [:]
    private var last: ServiceID?

    package init() {}

    /// Services with something to send, in the order of their numbers, as the store says. Returns those to begin with:
    /// whoever comes after the last one that began is first, so that each has its turn.
    package mutating func begin(_ due: [ServiceID], at now: Timestamp) -> [ServiceID] {
        held = held.filter { $0.value > now }
        let start = last.flatMap { last in due.firstIndex { $0.rawValue > last.rawValue } } ?? 0
        var begun: [ServiceID] = []
        for service in due[start...] + due[..<start] where underWay.count < CallbackRules.services {
            guard held[service] == nil, !underWay.contains(service) else { continue }
            if failing.contains(service), underWay.count(where: failing.contains) >= CallbackRules.failingServices {
                continue
            }
            underWay.insert(service)
            begun.append(service)
        }
        last = begun.last ?? last
        return begun
    }

    /// The work for a service has ended.
    package mutating func end(_ service: ServiceID) { underWay.remove(service) }

    /// The store could not give the alarms of a service.
    package mutating func hold(_ service: ServiceID, at now: Timestamp) {
        held[service] = now.adding(milliseconds: CallbackRules.retry)
    }

    /// The store has refused what sending for a service needs; nil: what all need.
    package mutating func storeFailed(_ reason: String, of service: ServiceID?) -> OperatorNotice? {
        storeFailing.insert(service).inserted ? .storeFailing(reason) : nil
    }

    /// The store has done it.
    package mutating func storeWorked(of service: ServiceID?) -> OperatorNotice? {
        storeFailing.remove(service) == nil ? nil : .storeWorking
    }

    /// Returns what an answer changes.
    package mutating func note(_ answer: CallbackAnswer, of service: ServiceID) -> OperatorNotice? {
        switch answer {
        case .taken: failing.remove(service) == nil ? nil : .working
        case .failed(let reason): failing.insert(service).inserted ? .failing(reason) : nil
        }
    }

    /// After a request with all alarms of a claim: what was taken ends, what has been tried for long enough is given up,
    /// and everything else waits for the next try, in the same order.
    package static func settlement(
        of claim: CallbackClaim, in service: ServiceID, _ answer: CallbackAnswer, at now: Timestamp
    ) -> CallbackSettlement {
        let numbers = claim.callbacks.map(\.alarm.number)
        guard case .failed = answer else {
            return CallbackSettlement(service: service, ended: numbers, failed: [], time: now, retryAt: nil)
        }
        let old = Set(
            claim.callbacks.filter { callback in
                callback.firstTried.map { now.milliseconds(since: $0) >= CallbackRules.retryTimeout } ?? false
            }.map(\.alarm.number))
        return CallbackSettlement(
            service: service, ended: numbers.filter(old.contains), failed: numbers.filter { !old.contains($0) },
            time: now, retryAt: now.adding(milliseconds: CallbackRules.retry))
    }

    /// After a request that this server broke off because it ends: everything waits for the server's next start.
    package static func release(
        _ claim: CallbackClaim, of service: ServiceID, at now: Timestamp
    ) -> CallbackSettlement {
        CallbackSettlement(
            service: service, ended: [], failed: claim.callbacks.map(\.alarm.number), time: now, retryAt: nil)
    }
}

/// The numbers of callbacks, in milliseconds unless they say otherwise.
package enum CallbackRules {
    /// From one try in vain to the next.
    package static let retry: Int64 = 15_000
    /// From an alarm's first try to its last.
    package static let retryTimeout: Int64 = 600_000
    /// Most alarms of one request.
    package static let alarms = 100
    /// Services that are served at the same time.
    package static let services = 16
    /// Of these such whose URLs failed last: they take long, and the others must not wait for them.
    package static let failingServices = 8
    /// Services whose turn is considered in one look into the queue.
    package static let lookedAt = 10_000
    /// Requests for a service before the others have their turn.
    package static let requests = 20
    /// From one look into the queue to the next.
    package static let look: Int64 = 1000
    /// The longest that a request may take, to the end of its answer.
    package static let answer: Int64 = 10_000
    /// The longest that a claim holds: longer than a request takes. After the death of a server its alarms wait so long.
    package static let claim: Int64 = 20_000
    /// Bytes of an answer that are read.
    package static let answerBytes = 16_384
    /// Addresses of a name that are tried in one request.
    package static let addresses = 3
    /// Checks of URLs at the same time: one costs 1 MB, with TLS.
    package static let checks = ServicePlaces(64, ofService: 2, shared: 16)
}

/// Work that another one's server can hold up, and for which services it is done. Each service can have one place while others
/// fill theirs, because second places of services end where `shared` are taken. No I/O, no clock.
package struct ServicePlaces: Hashable, Sendable {
    /// Who has all the places that a newcomer would need.
    package enum Refusal: Hashable, Sendable {
        case service
        case all
    }

    package let count: Int
    package let ofService: Int
    /// Second and further places of services are given while fewer than so many are taken.
    package let shared: Int
    private var taken: [ServiceID: Int] = [:]
    private var total = 0

    package init(_ count: Int, ofService: Int, shared: Int) {
        (self.count, self.ofService, self.shared) = (count, ofService, shared)
    }

    /// Nil: the service has a place, and ``end(of:)`` must follow.
    package mutating func begin(of service: ServiceID) -> Refusal? {
        let known = taken[service, default: 0]
        guard known < ofService else { return .service }
        guard total < (known == 0 ? count : shared) else { return .all }
        taken[service] = known + 1
        total += 1
        return nil
    }

    package mutating func end(of service: ServiceID) {
        guard let known = taken[service] else { return }
        taken[service] = known > 1 ? known - 1 : nil
        total -= 1
    }
}

/// What the operator's server said to a request.
package enum CallbackAnswer: Hashable, Sendable {
    case taken
    /// Why it does not count as taken: the end of a sentence about the operator's server.
    case failed(String)

    /// An answer counts as taken with status 200, the header `SignId: baidu_yingyan`, and `status` 0 in its body.
    package init(status: Int, signID: String?, body: [UInt8]) {
        guard status == 200 else {
            self = .failed("it answered with HTTP status \(status), not 200")
            return
        }
        guard signID == Self.signID else {
            self = .failed("its answer has no header \(Self.signHeader) with the value \(Self.signID)")
            return
        }
        guard let value = try? JSONReader.value(of: body), case .object = value else {
            self = .failed("its answer is no JSON object")
            return
        }
        guard value["status"]?.integerValue == 0 else {
            self = .failed("its answer has no member status with the value 0")
            return
        }
        self = .taken
    }

    package static let signHeader = "SignId"
    /// Of requests and answers, as the published service has it.
    package static let signID = "baidu_yingyan"
}
