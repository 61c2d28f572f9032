package import TrackModel

/// The services of a store and the access keys that open them.
package protocol ServiceStore: Sendable {
    /// Makes a service, with the given number or, for nil, with the next one after the highest that is taken. Throws
    /// `.serviceExists`.
    func createService(
        named name: String, numbered number: ServiceID?, at now: Timestamp
    ) async throws(TrackStoreError) -> ServiceRecord
    /// All services in the order of their numbers.
    func services() async throws(TrackStoreError) -> [ServiceRecord]
    /// Adds a key to a service; `replacing` true disables all earlier ones in the same transaction. A key that the service
    /// has already gets the new secret and rights, and is valid again. Throws `.unknownService`.
    func addKey(
        _ key: KeyGrant, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError)
    /// Every key with this hash, one a service, with the app code of its service; empty when the key is unknown.
    func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord]
    /// Every key that has a secret, disabled ones too, in the order of their services.
    func signingKeys() async throws(TrackStoreError) -> [AccessKeyRecord]
    /// Keeps another text as the secret of a key that has one, and leaves as little of the former text as the store can. Of
    /// a key that is not there, or that has no secret, nothing changes.
    func replaceSecret(with secret: String, of use: AccessKeyUse) async throws(TrackStoreError)
    /// Encrypts the secrets that are still readable, when the store has a key for it. Returns why signing keys cannot be used
    /// that are in use; nil when all can be.
    func sealSecrets() async throws(TrackStoreError) -> String?
    /// Those of some keys that do not open their service any more: disabled, past their end, removed, or of no service.
    /// Whoever keeps a session open asks from time to time, so that a key that has ended ends its sessions too.
    func endedKeys(
        among uses: Set<AccessKeyUse>, at now: Timestamp
    ) async throws(TrackStoreError) -> Set<AccessKeyUse>
    /// All keys of a service, disabled ones too, in the order of their making. Empty when there is no such service.
    func keys(of service: ServiceID) async throws(TrackStoreError) -> [KeyListing]
    /// Ends one key of a service, or makes it valid again. Of a key that is not there, nothing changes.
    func setKey(_ use: AccessKeyUse, isDisabled: Bool) async throws(TrackStoreError)
    /// Gives a service another name. Throws `.unknownService`.
    func renameService(_ service: ServiceID, to name: String) async throws(TrackStoreError)
    /// Sets the app code of a service; nil: it has none from now on. Throws `.unknownService`.
    func setAppCode(_ appCode: String?, of service: ServiceID) async throws(TrackStoreError)
    /// Says how long a service keeps its points. Removes none. Throws `.unknownService`.
    func setRetention(_ retention: Retention, of service: ServiceID) async throws(TrackStoreError)
    /// Says how the Web API answers the clients of a service. Throws `.unknownService`.
    func setAnswers(_ answers: AnswerForms, of service: ServiceID) async throws(TrackStoreError)
    /// What was said last. Throws `.unknownService`.
    func answers(of service: ServiceID) async throws(TrackStoreError) -> AnswerForms
}

extension ServiceStore {
    /// Makes a service with the next free number.
    package func createService(named name: String, at now: Timestamp) async throws(TrackStoreError) -> ServiceRecord {
        try await createService(named: name, numbered: nil, at: now)
    }
}

package struct ServiceRecord: Hashable, Sendable {
    package var id: ServiceID
    package var name: String
    package var created: Timestamp
    /// A second value that a login (`app_code`) and a request (`mcode`) must present beside a key; nil: none.
    package var appCode: String?
    package var retention: Retention
    package var answers: AnswerForms

    package init(
        id: ServiceID, name: String, created: Timestamp, appCode: String? = nil, retention: Retention = .standard,
        answers: AnswerForms = AnswerForms()
    ) {
        self.id = id
        self.name = name
        self.created = created
        self.appCode = appCode
        self.retention = retention
        self.answers = answers
    }
}

/// How long a service keeps its points.
package enum Retention: Hashable, Sendable, CustomStringConvertible {
    /// As long as the server's configuration says.
    case standard
    case forever
    /// 1 ... ``mostDays``.
    case days(Int)

    package static let mostDays = 36_500

    /// `days`, `forever` or `default`. Nil for any other text, and for a number out of range.
    package init?(_ text: String) {
        switch text {
        case "default": self = .standard
        case "forever": self = .forever
        default:
            guard let days = Int(text), (1...Self.mostDays).contains(days) else { return nil }
            self = .days(days)
        }
    }

    /// As ``init(_:)`` reads it.
    package var description: String {
        switch self {
        case .standard: "default"
        case .forever: "forever"
        case .days(let days): "\(days)"
        }
    }

    /// Days for which points are kept; nil: for ever. `standard`: what the configuration says.
    package func days(standard: Int?) -> Int? {
        switch self {
        case .standard: standard
        case .forever: nil
        case .days(let days): days
        }
    }
}

/// How the Web API answers the clients of one service, where the published clients disagree. Nil: as the configuration of
/// the server says.
package struct AnswerForms: Hashable, Sendable {
    /// How `fence/list` writes the vertices of a fence.
    package var vertices: VertexForm?
    /// The status of `entity/delete` for an entity that the service does not have.
    package var unknownEntity: UnknownEntityStatus?

    package init(vertices: VertexForm? = nil, unknownEntity: UnknownEntityStatus? = nil) {
        self.vertices = vertices
        self.unknownEntity = unknownEntity
    }
}

/// How the vertices of a fence are written.
package enum VertexForm: String, Hashable, Sendable, CaseIterable {
    /// An array of objects with `longitude` and `latitude`.
    case objects
    /// One text, `latitude,longitude` pairs joined by semicolons.
    case text
}

/// What the deletion of something that is not there is.
package enum UnknownEntityStatus: String, Hashable, Sendable, CaseIterable {
    case notFound = "3003"
    case success = "0"
}

/// Services that go with everything in them.
///
/// A deletion has two parts. The first is one short transaction, after which nobody finds the service any more. The second
/// removes what the service had, in bounded transactions, and goes on wherever it was cut off.
package protocol ServiceDeletionStore: Sendable {
    /// What a service has. Throws `.unknownService`.
    func holdings(of service: ServiceID) async throws(TrackStoreError) -> ServiceHoldings
    /// From its return on, the service and its keys, tokens and devices open nothing, nothing can be added to it, and no points
    /// are stored. Its number is never given out again: the ring of a vehicle that still has it may hold points of the former
    /// service. Throws `.unknownService`.
    func deleteService(_ service: ServiceID) async throws(TrackStoreError)
    /// Removes rows of deleted services in one transaction, `limit` or a few more; returns how many. 0: nothing is left of any.
    func removeDeletedServices(limit: Int) async throws(TrackStoreError) -> Int
    /// Those of some services that were deleted. Costs next to nothing.
    func deletedServices(among services: Set<ServiceID>) async throws(TrackStoreError) -> Set<ServiceID>
}

/// What goes with a service.
package struct ServiceHoldings: Hashable, Sendable {
    package var entities: Int
    /// As ``StoreCounts/points``.
    package var points: Int
    /// Those that have ended, too.
    package var keys: Int
    package var devices: Int

    package init(entities: Int = 0, points: Int = 0, keys: Int = 0, devices: Int = 0) {
        (self.entities, self.points, self.keys, self.devices) = (entities, points, keys, devices)
    }
}
