import TrackStore

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
