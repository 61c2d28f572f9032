/// Whose data the programs on a vehicle may read and write through the agent's connection, without an access key: with
/// calls of the Web API and with custom points (`call_policy` in `[gateway]`).
///
/// The policy does not concern the points of the agent's cache. They belong to the entities that the agent was logged in as.
package enum DevicePolicy: String, Hashable, Sendable, CaseIterable {
    /// Only data of the session's own entity.
    case entity
    /// Data of every entity of the service, as with an access key.
    case service

    /// Nil when a session of `entity` may name all of `names`; otherwise a sentence that says what to do. Compares names
    /// byte by byte, as the store does.
    package func problem(naming names: some Sequence<String>, by entity: String) -> String? {
        guard self == .entity, let other = names.first(where: { !$0.utf8.elementsEqual(entity.utf8) }) else {
            return nil
        }
        return "a device reads and writes its own entity \(entity) alone, not \(other): \(Self.advice)"
    }

    /// The same for a request that concerns all entities of the service.
    package func problemWithWholeService(by entity: String) -> String? {
        guard self == .entity else { return nil }
        return "a device reads its own entity \(entity) alone, and this concerns the whole service: \(Self.advice)"
    }

    /// The same for a request that changes or removes fences which the vehicle did not make.
    package func problemWithFences(first: Int32, count: Int, by entity: String) -> String? {
        guard self == .entity else { return nil }
        let others = count > 1 ? " and \(count - 1) more" : ""
        return
            "a device changes and removes the fences alone that it made, and fence \(first)\(others) was made by the operator or by"
            + " another vehicle: \(Self.advice)"
    }

    private static let advice =
        "use an access key, or have call_policy = \"service\" set under [gateway] on the server"
}
