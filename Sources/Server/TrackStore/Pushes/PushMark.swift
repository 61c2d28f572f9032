/// How far a reader has heard of the messages of a store: see ``PushStore``.
///
/// A store makes its marks of types of its own, which nobody else can name. So only the store can read a mark, and a store
/// that several servers share may keep in it whatever it needs: a number is no promise there, because messages do not become
/// visible in the order of their numbers.
package struct PushMark: Hashable, Sendable {
    private let content: any Hashable & Sendable

    /// For stores alone.
    package init(_ content: some Hashable & Sendable) {
        self.content = content
    }

    /// For stores alone. Throws `.failed` when another store made the mark.
    package func content<Content: Hashable & Sendable>(
        as type: Content.Type
    ) throws(TrackStoreError) -> Content {
        guard let own = content as? Content else {
            throw TrackStoreError(.failed, "the mark of pushes was made by another store")
        }
        return own
    }

    package static func == (one: PushMark, other: PushMark) -> Bool { one.content.equals(other.content) }

    package func hash(into hasher: inout Hasher) { content.hash(into: &hasher) }
}

extension Equatable {
    fileprivate func equals(_ other: any Sendable) -> Bool { self == other as? Self }
}
