import Geodesy
import Geofencing
import JSON
import TrackModel
import TrackStore

/// The module `fence`: the fences of a service, and their alarms.
enum FenceEndpoints {
    static let all =
        FenceKind.allCases.map(create) + FenceKind.allCases.map(update)
        + [
            delete, list, addPersons, deletePersons, listPersons, status, statusByLocation, history, batchHistory,
            setURL, cancelURL, queryURL,
        ]

    /// What a person calls the kinds of shapes; the raw values stand in the names of calls.
    enum FenceKind: String, CaseIterable, Sendable {
        case circle, polygon, polyline, district

        /// Of the calls that make or change a fence of this kind.
        var parameters: [String] {
            switch self {
            case .circle: ["longitude", "latitude", "radius", "coord_type"]
            case .polygon: ["vertexes", "coord_type"]
            case .polyline: ["vertexes", "offset", "coord_type"]
            case .district: ["keyword"]
            }
        }

        init(_ definition: FenceDefinition) {
            guard definition.district == nil else {
                self = .district
                return
            }
            switch definition.shape.outline {
            case .circle: self = .circle
            // Another point is one that its buffer makes a circle.
            case .point: self = definition.isWithoutArea ? .polygon : .circle
            case .polygon: self = .polygon
            case .corridor: self = .polyline
            }
        }
    }

    static let commonParameters = ["fence_name", "monitored_person", "denoise"]

    /// The fence that the parameter `fence_id` names.
    static func fence(_ call: APICall, _ store: any FenceStore) async throws -> FenceRecord {
        let number = try call.parameters.requiredInteger("fence_id")
        guard let id = Int32(exactly: number), let record = try await store.fence(id, in: call.service) else {
            throw APIFailure(.noFence, "fence_id \(number)")
        }
        return record
    }
}

extension FenceSubjects {
    /// What the API calls the watched ones.
    var personText: String {
        if isEveryone { return Self.everyoneName }
        return entities.count > 1 ? "#partofentity" : entities.first?.text ?? ""
    }

    /// Whose fence it is, for callers that may not ask about everyone: of one entity alone, or the whole service's.
    var subject: CallSubject {
        !isEveryone && entities.count == 1 ? .entities(entities.map(\.text)) : .wholeService
    }
}

extension APICall {
    /// The names of `monitored_person`, which commas part; nil when not given.
    func persons() throws(APIFailure) -> [String]? {
        guard let text = parameters["monitored_person"] else { return nil }
        let names = TextParts.split(text, at: ",").map { Parameters.trimmed($0) }.filter { !$0.isEmpty }
        guard !names.isEmpty, names.count <= FenceLimits.mostPersons else {
            throw APIFailure(
                .parameter, "monitored_person has 1 to \(FenceLimits.mostPersons) names, not \(names.count)")
        }
        for name in names where name.utf8.count > EntityName.maximumBytes {
            throw APIFailure(
                .parameter,
                "monitored_person: a name has \(name.utf8.count) bytes, and \(EntityName.maximumBytes) are the most")
        }
        return names
    }

    /// One entity's name.
    func person() throws(APIFailure) -> String {
        guard let names = try persons() else { throw APIFailure(.parameter, "monitored_person is required") }
        guard names.count == 1 else {
            throw APIFailure(.parameter, "monitored_person is one name here, not \(names.count)")
        }
        return names[0]
    }

    /// Whom `monitored_person` wants watched; nil when not given.
    func watch() throws(APIFailure) -> FenceSubjects? {
        guard let names = try persons() else { return nil }
        if names == [FenceSubjects.everyoneName] { return .everyone }
        do throws(FenceError) {
            return try FenceSubjects(names)
        } catch {
            throw APIFailure(.parameter, "monitored_person: \(error)")
        }
    }

    /// The numbers of `fence_ids`, which commas part; nil when not given.
    func fenceIDs() throws(APIFailure) -> [Int32]? {
        // As any unknown parameter these would be ignored, and a call to delete some fences would delete all of a person.
        guard !parameters.hasParts(of: "fence_ids") else {
            throw APIFailure(
                .parameter, "fence_ids[...] is no list here: give the numbers with commas, as fence_ids=1,2")
        }
        guard let text = parameters["fence_ids"] else { return nil }
        let items = TextParts.split(text, at: ",").map { Parameters.trimmed($0) }.filter { !$0.isEmpty }
        guard !items.isEmpty, items.count <= FenceLimits.mostFences else {
            throw APIFailure(.parameter, "fence_ids has 1 to \(FenceLimits.mostFences) numbers, not \(items.count)")
        }
        var numbers: [Int32] = []
        for item in items {
            guard let number = Int64(item) else {
                throw APIFailure(.parameter, "fence_ids: each is a whole number, and one is not")
            }
            // What is too large for the number of a fence is none: no fence has the number 0.
            numbers.append(Int32(exactly: number) ?? 0)
        }
        return numbers
    }

    /// Whom a call with `monitored_person` is about, by the same reading as the call's own.
    var monitoredPerson: CallSubject {
        guard let names = try? persons(), names.count == 1, !TextParts.begins(names[0], with: "#") else {
            return .wholeService
        }
        return .entities(names)
    }
}

extension FenceEndpoints {
    /// `fence/seturl`: the URL is asked first whether it takes alarms. The same URL keeps its secret.
    static let setURL = Endpoint("fence/seturl", .post, ["url"]) { (call, store: any CallbackStore) in
        let url = try call.parameters.required("url")
        let old = try await store.callback(of: call.service)
        let target = CallbackTarget(url: url, secret: old?.url == url ? old?.secret ?? secret() : secret())
        if let problem = target.problem { throw APIFailure(.parameter, "url: \(problem)") }
        if let problem = await call.checkCallback(target, call.service) { throw APIFailure(.parameter, problem) }
        try await store.setCallback(target, of: call.service)
        return Answer { $0.member("secret", target.secret) }
    }

    /// `fence/cancelurl`: what waits is not sent any more.
    static let cancelURL = Endpoint("fence/cancelurl", .post, []) { (call, store: any CallbackStore) in
        try await store.setCallback(nil, of: call.service)
        return .done
    }

    /// `fence/queryurl`: the URL, empty when there is none. The secret is told only to whoever sets the URL.
    static let queryURL = Endpoint("fence/queryurl", .get, []) { (call, store: any CallbackStore) in
        let target = try await store.callback(of: call.service)
        return Answer { $0.member("url", target?.url ?? "") }
    }

    /// 64 hexadecimal digits of the system's random numbers.
    private static func secret() -> String {
        (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }
}
