/// A request as the key of a table: requests of different types differ.
struct AnyQuery: Hashable, Sendable {
    private let query: any Hashable & Sendable

    init(_ query: some Hashable & Sendable) {
        self.query = query
    }

    static func == (left: Self, right: Self) -> Bool {
        func isRight<Query: Hashable>(_ query: Query) -> Bool { right.query as? Query == query }
        return isRight(left.query)
    }

    func hash(into hasher: inout Hasher) { query.hash(into: &hasher) }
}
