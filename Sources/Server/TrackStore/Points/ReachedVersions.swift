/// To which versions the batches of one call bring their entities, for those batches that follow others
/// (``IngestBatch/followsBatch``).
package struct ReachedVersions: Sendable {
    private var versions: [EntityKey: Int64] = [:]
    /// Entities of which a batch was not stored: what was worked out from it must not be stored either, whatever is stored
    /// between the two.
    private var broken: Set<EntityKey> = []

    package init() {}

    /// The version that a batch which follows must find; nil: there is none, it must not be stored.
    package func version(of entity: EntityKey) -> Int64? { broken.contains(entity) ? nil : versions[entity] }

    /// `isChecked`: the batch named the version that it needs (``IngestBatch/expectedVersion``), so it builds on nothing that
    /// came before it in the call.
    package mutating func ended(_ outcome: IngestOutcome, of entity: EntityKey, isChecked: Bool) {
        guard case .stored(_, let version) = outcome else {
            broken.insert(entity)
            return
        }
        versions[entity] = version
        if isChecked { broken.remove(entity) }
    }
}
