package import TrackModel

/// How many questions to name servers are under way, and for whom. A name server that never answers holds up the thread that
/// asks it for half a minute, longer than anybody waits for the request. No I/O, no clock.
package struct NameLookups: Hashable, Sendable {
    /// Of one service: a request, and a check of a new URL.
    package static let ofService = 2
    package static let ofAll = 64

    private var underWay: [ServiceID: Int] = [:]
    private var count = 0

    package init() {}

    /// A service wants to know the address of a host. Nil: it may ask, and ``end(of:)`` must follow when the answer is there;
    /// otherwise why it may not.
    package mutating func begin(of service: ServiceID, host: String) -> String? {
        guard underWay[service, default: 0] < Self.ofService else {
            return
                "the name server of \(host) has not answered \(Self.ofService) earlier questions of this service yet: use an address in"
                + " place of the name, or mend the name server"
        }
        guard count < Self.ofAll else {
            return "too many name servers have not answered yet, so \(host) is not looked up now: it is tried again"
        }
        underWay[service, default: 0] += 1
        count += 1
        return nil
    }

    package mutating func end(of service: ServiceID) {
        guard let known = underWay[service] else { return }
        underWay[service] = known > 1 ? known - 1 : nil
        count -= 1
    }
}
