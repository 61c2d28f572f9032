/// Whether custom columns belong to points or to entities.
package enum ColumnKind: String, Hashable, Sendable, CaseIterable {
    case track, entity
}
