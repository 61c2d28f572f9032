/// What a device's session may ask through its own connection, where no access key is shown.
package enum CallPolicy: String, Hashable, Sendable, CaseIterable {
    /// The data of the session's own entity.
    case entity
    /// Whatever an access key of the service may.
    case service

    /// Nil when a session of `entity` may ask about `subject`; otherwise a sentence that says what to do.
    func problem(with subject: CallSubject, by entity: String) -> String? {
        switch (self, subject) {
        case (.service, _): return nil
        case (.entity, .wholeService):
            return "a device may ask about its own entity \(entity) only, and this concerns the whole service: "
                + "\(Self.advice)"
        case (.entity, .entities(let names)):
            guard let other = names.first(where: { ExactName($0) != ExactName(entity) }) else { return nil }
            return "a device may ask about its own entity \(entity) only, not about \(other): \(Self.advice)"
        }
    }

    private static let advice =
        "use an access key, or have call_policy = \"service\" set under [gateway] on the server"
}
