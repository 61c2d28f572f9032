import JSON

extension JSONRules {
    /// For what clients send. They write numbers of any size, and the last member of a name counts for them.
    static let requests = JSONRules(
        // Of a parameter within a body: numbers may be written out longer than they came.
        maximumBytes: 4 * APIRouter.maximumBodyBytes, maximumDepth: 16, maximumValues: 100_000,
        maximumNameBytes: 256,
        repeatedMembers: .lastCounts, largeIntegers: .doubles)
}
