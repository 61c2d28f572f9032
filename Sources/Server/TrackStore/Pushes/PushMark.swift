/// How far somebody has heard of the messages of a store: see ``PushStore/pushNews(after:limit:)``.
///
/// A store makes its marks of a type of its own, which nobody else can name. So only the store can read a mark.
package struct PushMark: Sendable {
    private let content: any Sendable

    /// For stores alone.
    package init(_ content: some Sendable) {
        self.content = content
    }

    /// For stores alone. Nil: another kind of store made the mark.
    package func content<Content: Sendable>(as type: Content.Type) -> Content? {
        content as? Content
    }
}
