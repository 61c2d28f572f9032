/// Bytes that the connections of one kind may hold together. A value.
///
/// When there are too many, the connection that holds most gives all of its bytes back. So who hoards cannot keep out who
/// asks for little.
struct MemoryBudget<ID: Hashable & Sendable>: Sendable {
    let limit: Int
    private(set) var total = 0
    private var held: [ID: Int] = [:]

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Returns who must give up, the taker itself perhaps; nothing is held by them any more.
    mutating func take(_ bytes: Int, for id: ID) -> [ID] {
        held[id, default: 0] += bytes
        total += bytes
        var victims: [ID] = []
        while total > limit, let most = held.max(by: { $0.value < $1.value }) {
            giveBack(most.value, of: most.key)
            victims.append(most.key)
        }
        return victims
    }

    /// At most what it holds.
    mutating func giveBack(_ bytes: Int, of id: ID) {
        guard let known = held[id] else { return }
        let given = min(bytes, known)
        total -= given
        held[id] = known > given ? known - given : nil
    }

    /// Returns what it held.
    @discardableResult mutating func giveBackAll(of id: ID) -> Int {
        let known = held[id] ?? 0
        giveBack(known, of: id)
        return known
    }

    func bytes(of id: ID) -> Int { held[id] ?? 0 }
}
