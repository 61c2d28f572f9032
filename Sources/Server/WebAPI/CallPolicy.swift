import TrackModel
import TrackStore

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
            // Equivalent spellings are one to String, but not to the store.
            guard let other = names.first(where: { !$0.utf8.elementsEqual(entity.utf8) }) else { return nil }
            return "a device may ask about its own entity \(entity) only, not about \(other): \(Self.advice)"
        }
    }

    private static let advice =
        "use an access key, or have call_policy = \"service\" set under [gateway] on the server"
}

/// Whose data a request reads or changes, as far as its parameters say.
enum CallSubject: Hashable, Sendable {
    /// These, and no others. None when the parameters cannot be read: then the request fails for that.
    case entities([String])
    case wholeService
}

extension APICall {
    /// Of a request with `entity_name`.
    var namedEntity: CallSubject { .entities([parameters["entity_name"] ?? caller.entity].compactMap(\.self)) }

    /// Of a request with `filter`: without names in it, it is about all.
    var filteredEntities: CallSubject {
        guard let filter = try? EntityFilter(parsing: parameters["filter"]) else { return .entities([]) }
        return filter.names.map(CallSubject.entities) ?? .wholeService
    }

    /// Of a request with `point_list`; points without a name are refused one by one.
    var entitiesOfPointList: CallSubject {
        guard let list = try? pointList() else { return .entities([]) }
        return .entities(list.compactMap { try? UploadedPoint($0).entityName() })
    }
}
