package import TrackModel

/// Asks the providers for their values at each gathered point. Releases the point when all have answered or when the
/// time is up. Without providers a point passes at once, and no timer is set.
///
/// Every `mutating func` is an event; do the actions in their order. At most one point waits. The next point releases
/// it.
package struct AttributeCollector: Hashable, Sendable {
    /// A provider's connection.
    package struct ProviderID: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt64

        package init(rawValue: UInt64) { self.rawValue = rawValue }
    }

    package enum Action: Hashable, Sendable {
        /// Tell the provider, whose call waits, that a point with this time was gathered.
        case ask(ProviderID, request: Int64, time: Timestamp)
        /// The point goes on with the values that providers gave for it, in the order of their registration.
        case release(TrackPoint, entity: String, provided: [[String: AttributeValue]])
        /// Call ``timerFired()`` once after this time. Replaces an earlier timer.
        case setTimer(milliseconds: Int64)
        case cancelTimer
    }

    /// What happened to a provider's call.
    package enum Reception: Hashable, Sendable {
        /// The provider was not asked before, or gave no values. The call waits for the next point.
        case waiting
        /// The point carries the values.
        case taken
        /// The point went on without the values.
        case late
        /// There are too many providers; the caller did not become one.
        case full
        /// The provider's last request had another number.
        case unknownRequest(last: Int64?)
    }

    /// A provider, for the status.
    package struct ProviderInfo: Hashable, Sendable {
        package let id: ProviderID
        package let answered: UInt64
        package let late: UInt64
        /// The values that it gave last, in time or late, and when.
        package let values: [String: AttributeValue]
        package let answeredAt: MonotonicTime?
    }

    /// The most milliseconds that a point waits for its providers.
    package static let timeout: Int64 = 200
    package static let maximumProviders = 16

    private struct Provider: Hashable {
        let id: ProviderID
        /// Its call waits for a point.
        var isWaiting = false
        /// The last request that it was told and has not answered.
        var asked: Int64?
        var answered: UInt64 = 0
        var late: UInt64 = 0
        var values: [String: AttributeValue] = [:]
        var answeredAt: MonotonicTime?
    }

    private struct Round: Hashable {
        let point: TrackPoint
        let entity: String
        let request: Int64
        /// In the order of their registration.
        let asked: [ProviderID]
        var missing: Set<ProviderID>
        var answers: [ProviderID: [String: AttributeValue]] = [:]
    }

    /// In the order of registration.
    private var providers: [Provider] = []
    private var round: Round?
    private var requests: Int64 = 0

    package init() {}

    package var infos: [ProviderInfo] {
        providers.map {
            ProviderInfo(id: $0.id, answered: $0.answered, late: $0.late, values: $0.values, answeredAt: $0.answeredAt)
        }
    }

    /// What the providers gave last, in the order of their registration. Without those that let a point go without an answer.
    package var newest: [[String: AttributeValue]] {
        providers.filter { $0.asked == nil || $0.asked == round?.request }.map(\.values)
    }

    package var providerCount: Int { providers.count }

    // MARK: Events

    /// A provider calls; its first call registers it. `answer`: the request that it answers, with judged values.
    ///
    /// Unless the reception is `full` or `unknownRequest`, the call now waits for the next point.
    package mutating func called(
        _ id: ProviderID, answer: (request: Int64, values: [String: AttributeValue])?, now: MonotonicTime
    ) -> (Reception, [Action]) {
        if !providers.contains(where: { $0.id == id }) {
            // A refused call makes no provider, because nothing would tell when that provider ends.
            if answer != nil { return (.unknownRequest(last: nil), []) }
            guard providers.count < Self.maximumProviders else { return (.full, []) }
            providers.append(Provider(id: id))
        }
        guard let index = providers.firstIndex(where: { $0.id == id }) else { return (.full, []) }
        let asked = providers[index].asked
        if let answer, answer.request != asked {
            return (.unknownRequest(last: asked), failed(id))
        }
        providers[index].asked = nil
        providers[index].isWaiting = true
        guard let answer else { return (.waiting, noLongerMissing(id)) }
        providers[index].values = answer.values
        providers[index].answeredAt = now
        guard round?.request == answer.request, round?.missing.contains(id) == true else {
            providers[index].late += 1
            return (.late, [])
        }
        providers[index].answered += 1
        round?.answers[id] = answer.values
        return (.taken, noLongerMissing(id))
    }

    /// A provider's call was refused because of its values. No point waits for this answer.
    package mutating func failed(_ id: ProviderID) -> [Action] {
        if let index = providers.firstIndex(where: { $0.id == id }) { providers[index].asked = nil }
        return noLongerMissing(id)
    }

    /// A provider's connection is closed.
    package mutating func gone(_ id: ProviderID) -> [Action] {
        providers.removeAll { $0.id == id }
        return noLongerMissing(id)
    }

    /// A point was gathered.
    package mutating func gathered(_ point: TrackPoint, entity: String) -> [Action] {
        let former = flush()
        guard providers.contains(where: \.isWaiting) else {
            return former + [.release(point, entity: entity, provided: [])]
        }
        requests += 1
        var asked: [ProviderID] = []
        var asking: [Action] = []
        for index in providers.indices where providers[index].isWaiting {
            providers[index].isWaiting = false
            providers[index].asked = requests
            asked.append(providers[index].id)
            asking.append(.ask(providers[index].id, request: requests, time: point.fix.time))
        }
        round = Round(point: point, entity: entity, request: requests, asked: asked, missing: Set(asked))
        return former + [.setTimer(milliseconds: Self.timeout)] + asking
    }

    /// The time is up.
    package mutating func timerFired() -> [Action] {
        release()
    }

    /// Releases the waiting point, if any, with the values that have come.
    package mutating func flush() -> [Action] {
        round == nil ? [] : [.cancelTimer] + release()
    }

    // MARK: Inside

    private mutating func noLongerMissing(_ id: ProviderID) -> [Action] {
        guard round?.missing.remove(id) != nil, round?.missing.isEmpty == true else { return [] }
        return flush()
    }

    private mutating func release() -> [Action] {
        guard let ended = round else { return [] }
        round = nil
        let provided = ended.asked.compactMap { ended.answers[$0] }
        return [.release(ended.point, entity: ended.entity, provided: provided)]
    }
}
