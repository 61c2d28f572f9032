import TrackModel

/// A name as its bytes: Swift's `String` takes equivalent spellings for equal, the store and its clients do not.
struct EntityKey: Hashable, Sendable {
    let service: ServiceID
    let name: String

    static func == (left: Self, right: Self) -> Bool {
        left.service == right.service && left.name.utf8.elementsEqual(right.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(service)
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Committed rows that need not be looked up again. Nothing deletes services and entities, so what is here is true.
struct KnownRows: Sendable {
    /// Beyond it the table begins anew: about 30 MB.
    static let maximumEntities = 200_000

    private(set) var services: Set<ServiceID> = []
    private(set) var entities: [EntityKey: Int64] = [:]

    mutating func remember(_ service: ServiceID) {
        services.insert(service)
    }

    mutating func remember(_ rows: [EntityKey: Int64]) {
        if entities.count + rows.count > Self.maximumEntities { entities.removeAll(keepingCapacity: true) }
        guard rows.count <= Self.maximumEntities else { return }
        entities.merge(rows) { _, new in new }
    }
}
