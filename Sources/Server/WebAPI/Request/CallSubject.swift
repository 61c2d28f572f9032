import Ingest

/// Whose data a request reads or changes, as far as its parameters say.
enum CallSubject: Hashable, Sendable {
    /// These, and no others.
    case entities([String])
    case wholeService
    /// Fences that the asking vehicle did not make; one of them, and how many there are.
    case fencesOfOthers(first: Int32, count: Int)
}

extension APICall {
    /// Of a request with `entity_name`. Nobody when it is missing: then the request fails for that.
    var namedEntity: CallSubject { .entities([parameters["entity_name"] ?? caller.entity].compactMap(\.self)) }
}

extension DevicePolicy {
    /// Nil when a session of `entity` may ask about `subject`; otherwise a sentence that says what to do.
    func problem(with subject: CallSubject, by entity: String) -> String? {
        switch subject {
        case .entities(let names): problem(naming: names, by: entity)
        case .wholeService: problemWithWholeService(by: entity)
        case .fencesOfOthers(let first, let count): problemWithFences(first: first, count: count, by: entity)
        }
    }
}
