package import TrackModel

/// Whom a fence watches: nobody, some entities, or every entity of the service.
package struct FenceWatch: Hashable, Sendable {
    package let isEveryone: Bool
    /// In the order of their bytes, none twice; empty for nobody and for everyone.
    package let entities: [ExactName]

    package static let nobody = Self(isEveryone: false, entities: [])
    package static let everyone = Self(isEveryone: true, entities: [])
    /// Names in a list.
    package static let mostEntities = 100_000
    /// What the Web API calls everyone.
    package static let everyoneName = "#allentity"

    private init(isEveryone: Bool, entities: [ExactName]) {
        self.isEveryone = isEveryone
        self.entities = entities
    }

    /// Names in any order; a name that comes again counts once.
    ///
    /// - Throws: ``FenceError`` for what no entity is named, and for too many names.
    package init(_ names: some Sequence<String>) throws(FenceError) {
        var kept: [ExactName] = []
        for name in names {
            if let problem = EntityName.problem(with: name) {
                throw FenceError(.watch, "'\(name)' cannot be watched: \(problem)")
            }
            kept.append(ExactName(name))
        }
        kept.sort()
        var distinct: [ExactName] = []
        for name in kept where name != distinct.last { distinct.append(name) }
        guard distinct.count <= Self.mostEntities else {
            throw FenceError(
                .watch, "\(distinct.count) entities are watched: a list has at most 100,000, watch all of them instead")
        }
        self.init(isEveryone: false, entities: distinct)
    }

    package var isNobody: Bool { !isEveryone && entities.isEmpty }

    package func contains(_ entity: String) -> Bool {
        guard !isEveryone else { return true }
        let name = ExactName(entity)
        var (low, high) = (0, entities.count)
        while low < high {
            let middle = (low + high) / 2
            if entities[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low < entities.count && entities[low] == name
    }

    /// The same and these; everyone stays everyone.
    package func adding(_ names: some Sequence<String>) throws(FenceError) -> Self {
        guard !isEveryone else { return self }
        return try Self(entities.map(\.text) + Array(names))
    }

    /// The same without these.
    ///
    /// - Throws: ``FenceError`` for everyone, from whom nobody can be taken.
    package func removing(_ names: some Sequence<String>) throws(FenceError) -> Self {
        guard !isEveryone else {
            throw FenceError(.watch, "the fence watches every entity: name those it shall watch instead")
        }
        let removed = Set(names.map { ExactName($0) })
        return Self(isEveryone: false, entities: entities.filter { !removed.contains($0) })
    }

    /// Tells one watch from another. No entity's name holds a comma, or begins with `#`.
    package var scope: String {
        isEveryone ? Self.everyoneName : entities.map(\.text).joined(separator: ",")
    }
}
