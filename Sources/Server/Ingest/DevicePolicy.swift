/// Whose data the programs on a vehicle may read and write through its device's connection, where they show no access key:
/// with calls of the Web API, and with points of their own.
///
/// The points of the device's cache are not judged by this: they belong to the entities that it was logged in as.
package enum DevicePolicy: String, Hashable, Sendable, CaseIterable {
    /// Of the session's own entity.
    case entity
    /// Of every entity that an access key of the service opens.
    case service

    /// Nil when a session of `entity` may name all of `names`; otherwise a sentence that says what to do. Names are compared
    /// as the store does, byte by byte.
    package func problem(naming names: some Sequence<String>, by entity: String) -> String? {
        guard self == .entity, let other = names.first(where: { !$0.utf8.elementsEqual(entity.utf8) }) else {
            return nil
        }
        return "a device reads and writes its own entity \(entity) alone, not \(other): \(Self.advice)"
    }

    /// The same for what concerns all entities.
    package func problemWithWholeService(by entity: String) -> String? {
        guard self == .entity else { return nil }
        return "a device reads its own entity \(entity) alone, and this concerns the whole service: \(Self.advice)"
    }

    private static let advice =
        "use an access key, or have call_policy = \"service\" set under [gateway] on the server"
}
