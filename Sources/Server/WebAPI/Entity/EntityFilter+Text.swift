import TrackModel
import TrackStore

extension EntityFilter {
    /// Of the call's parameter `filter`, with the service's searchable columns.
    init(_ call: APICall, _ store: any ColumnStore) async throws {
        let searchable = try await store.columns(of: .entity, in: call.service).filter(\.isSearchable).map(\.key)
        try self.init(parsing: call.parameters["filter"], searchable: Set(searchable))
    }

    /// Without names it is about all, whatever else it says.
    var subject: CallSubject { names.map(CallSubject.entities) ?? .wholeService }

    /// `key:value` pairs joined by `|`; `=` for `:` too, split at the first of either. Empty pairs are passed over.
    /// A name that comes twice counts once. `searchable`: the entity columns that may be keys too.
    init(parsing text: String?, searchable: Set<String> = []) throws(APIFailure) {
        self.init()
        var seen: Set<ExactName> = []
        // Counted before anything is made of them: a filter may have millions of bytes.
        let pairs = TextParts.split(text ?? "", at: "|", most: Self.mostPairs)
        guard pairs.count <= Self.mostPairs else {
            throw APIFailure(.parameter, "filter: \(Self.mostPairs) pairs of key:value are the most")
        }
        for pair in pairs {
            let parts = TextParts.split(pair, at: ":", "=", most: 1, keepsEmpty: true)
            guard parts.count == 2 else {
                if TextParts.isBlank(pair) { continue }
                throw APIFailure(.parameter, "filter: each pair is key:value")
            }
            let (key, value) = (Parameters.trimmed(parts[0]), Parameters.trimmed(parts[1]))
            guard key.utf8.count <= ParameterLengths.name else {
                throw APIFailure(
                    .parameter, "filter: a key has \(key.utf8.count) bytes, and \(ParameterLengths.name) are the most")
            }
            if value.isEmpty { continue }
            switch key {
            case "entity_names":
                if names == nil { names = [] }
                // Repeated names count here: to find them out would cost as much as to take them.
                let given = TextParts.split(value, at: ",", most: Self.maximumNames)
                guard given.count <= Self.maximumNames else { throw APIFailure(.parameter, Self.tooManyNames) }
                for name in given.lazy.map({ Parameters.trimmed($0) })
                where !name.isEmpty && seen.insert(ExactName(name)).inserted {
                    names?.append(name)
                }
                guard seen.count <= Self.maximumNames else { throw APIFailure(.parameter, Self.tooManyNames) }
            case "active_time": activeSince = try Self.time(value, key)
            case "inactive_time": inactiveSince = try Self.time(value, key)
            case _ where searchable.contains(key):
                if let problem = ParameterLengths.problem(
                    with: value, of: "filter: \(key)", most: ParameterLengths.column)
                {
                    throw APIFailure(.parameter, problem)
                }
                values[key] = value
            default: throw APIFailure(.parameter, "filter: no searchable column is named \(key)")
            }
        }
        if activeSince != nil, inactiveSince != nil {
            throw APIFailure(.parameter, "filter: active_time and inactive_time cannot be given together")
        }
    }

    /// As many as a service can have columns, and some more for each name of a key.
    private static let mostPairs = 100

    static var tooManyNames: String { "filter: entity_names takes at most \(maximumNames) names" }

    /// Unset times of some clients come as large negative numbers: these count as not given.
    private static func time(_ text: String, _ key: String) throws(APIFailure) -> Timestamp? {
        guard text.utf8.count <= ParameterLengths.word, let seconds = Int64(text) else {
            throw APIFailure(.parameter, "filter: \(key) must be a Unix time in seconds")
        }
        return seconds > 0 ? Timestamp(seconds: seconds) : nil
    }
}

extension EntityOrder {
    /// `field:asc` or `field:desc`; `=` for `:` too. Without a direction ascending, without anything by the names.
    init(parsing text: String?, columns: Set<String>, mayHaveDistances: Bool = false) throws(APIFailure) {
        let text = Parameters.trimmed(text ?? "")
        guard !text.isEmpty else {
            self.init()
            return
        }
        let parts = TextParts.split(text, at: ":", "=", most: 1, keepsEmpty: true).map { Parameters.trimmed($0) }
        let isDescending: Bool
        switch parts.count > 1 ? parts[1].lowercased() : "" {
        case "", "asc": isDescending = false
        case "desc": isDescending = true
        default: throw APIFailure(.parameter, "sortby is one field, a colon, and asc or desc")
        }
        let key: EntityOrder.Key
        switch parts[0] {
        case "entity_name": key = .name
        case "entity_desc": key = .description
        case "loc_time": key = .time
        case "distance" where mayHaveDistances: key = .distance
        case let name where columns.contains(name): key = .value(name)
        default:
            let fields = "entity_name, entity_desc, loc_time" + (mayHaveDistances ? ", distance" : "")
            throw APIFailure(.parameter, "sortby: the field is one of \(fields), or an entity column")
        }
        self.init(key, isDescending: isDescending)
    }
}
