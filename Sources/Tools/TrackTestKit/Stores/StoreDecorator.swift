package import TrackModel
package import TrackStore

/// A store that adds something to the calls of another store: a delay, a fault, a count.
///
/// A decorator implements ``passing(_:)``, which every call goes through, or a method that it treats in its own way, or
/// both. Its forwarders are these: a new method of the contract changes no decorator.
package protocol StoreDecorator: TrackStore {
    var inner: any TrackStore { get }

    /// Makes a call of the inner store.
    func passing<Value: Sendable>(
        _ call: (any TrackStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value
}

extension StoreDecorator {
    package func passing<Value: Sendable>(
        _ call: (any TrackStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value {
        try await call(inner)
    }
}

// Services, devices, entities, points.
extension StoreDecorator {
    // MARK: ServiceStore

    package func sealSecrets() async throws(TrackStoreError) -> String? {
        try await passing { store async throws(TrackStoreError) in
            try await store.sealSecrets()
        }
    }

    package func createService(
        named name: String, numbered number: ServiceID?, at now: Timestamp
    ) async throws(TrackStoreError) -> ServiceRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.createService(named: name, numbered: number, at: now)
        }
    }

    package func services() async throws(TrackStoreError) -> [ServiceRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.services()
        }
    }

    package func addKey(
        _ key: KeyGrant, to service: ServiceID, replacing: Bool, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addKey(key, to: service, replacing: replacing, at: now)
        }
    }

    package func keys(matching hash: AccessKeyHash) async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.keys(matching: hash)
        }
    }

    package func signingKeys() async throws(TrackStoreError) -> [AccessKeyRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.signingKeys()
        }
    }

    package func replaceSecret(with secret: String, of use: AccessKeyUse) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.replaceSecret(with: secret, of: use)
        }
    }

    package func endedKeys(
        among uses: Set<AccessKeyUse>, at now: Timestamp
    ) async throws(TrackStoreError) -> Set<AccessKeyUse> {
        try await passing { store async throws(TrackStoreError) in
            try await store.endedKeys(among: uses, at: now)
        }
    }

    package func keys(of service: ServiceID) async throws(TrackStoreError) -> [KeyListing] {
        try await passing { store async throws(TrackStoreError) in
            try await store.keys(of: service)
        }
    }

    package func setKey(_ use: AccessKeyUse, isDisabled: Bool) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.setKey(use, isDisabled: isDisabled)
        }
    }

    package func renameService(_ service: ServiceID, to name: String) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.renameService(service, to: name)
        }
    }

    package func setAppCode(_ appCode: String?, of service: ServiceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.setAppCode(appCode, of: service)
        }
    }

    package func setRetention(_ retention: Retention, of service: ServiceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.setRetention(retention, of: service)
        }
    }

    package func setAnswers(_ answers: AnswerForms, of service: ServiceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.setAnswers(answers, of: service)
        }
    }

    package func answers(of service: ServiceID) async throws(TrackStoreError) -> AnswerForms {
        try await passing { store async throws(TrackStoreError) in
            try await store.answers(of: service)
        }
    }

    // MARK: ServiceDeletionStore

    package func holdings(of service: ServiceID) async throws(TrackStoreError) -> ServiceHoldings {
        try await passing { store async throws(TrackStoreError) in
            try await store.holdings(of: service)
        }
    }

    package func deleteService(_ service: ServiceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.deleteService(service)
        }
    }

    package func removeDeletedServices(limit: Int) async throws(TrackStoreError) -> Int {
        try await passing { store async throws(TrackStoreError) in
            try await store.removeDeletedServices(limit: limit)
        }
    }

    package func deletedServices(among services: Set<ServiceID>) async throws(TrackStoreError) -> Set<ServiceID> {
        try await passing { store async throws(TrackStoreError) in
            try await store.deletedServices(among: services)
        }
    }

    // MARK: DeviceStore

    package func addDevice(_ device: DeviceRecord) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addDevice(device)
        }
    }

    package func device(_ id: DeviceID) async throws(TrackStoreError) -> DeviceRecord? {
        try await passing { store async throws(TrackStoreError) in
            try await store.device(id)
        }
    }

    package func devices(
        matching filter: DeviceFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, devices: [DeviceRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.devices(matching: filter, page: page)
        }
    }

    package func changeDevice(_ id: DeviceID, _ change: DeviceChange) async throws(TrackStoreError) -> DeviceRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.changeDevice(id, change)
        }
    }

    package func forgetDevice(_ id: DeviceID) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.forgetDevice(id)
        }
    }

    package func noteDevice(_ id: DeviceID, _ sighting: DeviceRecord.Sighting) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.noteDevice(id, sighting)
        }
    }

    package func noteClone(of id: DeviceID, at now: Timestamp) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.noteClone(of: id, at: now)
        }
    }

    // MARK: EnrolmentStore

    package func addToken(_ token: NewToken, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.addToken(token, at: now)
        }
    }

    package func token(matching hash: TokenHash) async throws(TrackStoreError) -> TokenRecord? {
        try await passing { store async throws(TrackStoreError) in
            try await store.token(matching: hash)
        }
    }

    package func tokens(in service: ServiceID?) async throws(TrackStoreError) -> [TokenRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.tokens(in: service)
        }
    }

    package func revokeToken(_ number: Int64, at now: Timestamp) async throws(TrackStoreError) -> TokenRecord {
        try await passing { store async throws(TrackStoreError) in
            try await store.revokeToken(number, at: now)
        }
    }

    package func revokeDevices(
        ofToken number: Int64, limit: Int
    ) async throws(TrackStoreError) -> [DeviceRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.revokeDevices(ofToken: number, limit: limit)
        }
    }

    package func claim(_ request: ClaimRequest, at now: Timestamp) async throws(TrackStoreError) -> ClaimOutcome {
        try await passing { store async throws(TrackStoreError) in
            try await store.claim(request, at: now)
        }
    }

    package func renew(_ request: RenewalRequest, at now: Timestamp) async throws(TrackStoreError) -> RenewalOutcome {
        try await passing { store async throws(TrackStoreError) in
            try await store.renew(request, at: now)
        }
    }

    package func deviceCensus() async throws(TrackStoreError) -> DeviceCensus {
        try await passing { store async throws(TrackStoreError) in
            try await store.deviceCensus()
        }
    }

    // MARK: HealthStore

    package func noteHealth(_ notes: [HealthNote]) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.noteHealth(notes)
        }
    }

    package func health(
        in service: ServiceID?, after cursor: Int64?, limit: Int
    ) async throws(TrackStoreError) -> HealthPage {
        try await passing { store async throws(TrackStoreError) in
            try await store.health(in: service, after: cursor, limit: limit)
        }
    }

    // MARK: ColumnStore

    package func addColumn(
        _ column: ColumnRecord, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addColumn(column, of: kind, in: service)
        }
    }

    package func deleteColumn(
        named key: String, of kind: ColumnKind, in service: ServiceID
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.deleteColumn(named: key, of: kind, in: service)
        }
    }

    package func columns(of kind: ColumnKind, in service: ServiceID) async throws(TrackStoreError) -> [ColumnRecord] {
        try await passing { store async throws(TrackStoreError) in
            try await store.columns(of: kind, in: service)
        }
    }

    // MARK: EntityStore

    package func addEntity(
        _ entity: NewEntity, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.addEntity(entity, in: service, at: now)
        }
    }

    package func updateEntity(
        _ change: EntityChange, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.updateEntity(change, in: service, at: now)
        }
    }

    package func deleteEntity(
        named name: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) {
        try await passing { store async throws(TrackStoreError) in
            try await store.deleteEntity(named: name, in: service, at: now)
        }
    }

    package func entity(named name: String, in service: ServiceID) async throws(TrackStoreError) -> EntityRecord? {
        try await passing { store async throws(TrackStoreError) in
            try await store.entity(named: name, in: service)
        }
    }

    package func entities(
        in service: ServiceID, matching filter: EntityFilter, page: Page
    ) async throws(TrackStoreError) -> (total: Int, entities: [EntityRecord]) {
        try await passing { store async throws(TrackStoreError) in
            try await store.entities(in: service, matching: filter, page: page)
        }
    }

    // MARK: EntitySearch

    package func search(
        _ search: EntitySearch, in service: ServiceID, page: Page
    ) async throws(TrackStoreError) -> EntityFindings {
        try await passing { store async throws(TrackStoreError) in
            try await store.search(search, in: service, page: page)
        }
    }

    // MARK: PointStore

    package func openStream(
        _ stream: StreamID, of entity: String, in service: ServiceID, at now: Timestamp
    ) async throws(TrackStoreError) -> StreamClaim {
        try await passing { store async throws(TrackStoreError) in
            try await store.openStream(stream, of: entity, in: service, at: now)
        }
    }

    package func ingest(_ batches: [IngestBatch]) async -> [IngestOutcome] {
        do throws(TrackStoreError) {
            return try await passing { store async throws(TrackStoreError) in await store.ingest(batches) }
        } catch {
            return batches.map { _ in .failed(error) }
        }
    }

    package func lastReceived() async throws(TrackStoreError) -> Timestamp? {
        try await passing { store async throws(TrackStoreError) in
            try await store.lastReceived()
        }
    }

    package func version(of entity: String, in service: ServiceID) async throws(TrackStoreError) -> Int64 {
        try await passing { store async throws(TrackStoreError) in
            try await store.version(of: entity, in: service)
        }
    }

    package func track(
        of entity: String, in service: ServiceID, from: Timestamp, through: Timestamp, limit: Int
    ) async throws(TrackStoreError) -> StoredTrack {
        try await passing { store async throws(TrackStoreError) in
            try await store.track(of: entity, in: service, from: from, through: through, limit: limit)
        }
    }

    package func lastPoints(
        of entity: String, in service: ServiceID, count: Int
    ) async throws(TrackStoreError) -> StoredTrack {
        try await passing { store async throws(TrackStoreError) in
            try await store.lastPoints(of: entity, in: service, count: count)
        }
    }
}
