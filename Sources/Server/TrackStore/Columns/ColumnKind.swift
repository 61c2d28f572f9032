/// Whose custom columns: of each point, or of each entity.
package enum ColumnKind: String, Hashable, Sendable, CaseIterable {
    case track, entity
}
