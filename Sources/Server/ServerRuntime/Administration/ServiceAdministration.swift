package import ConfigurationFile
import StoreRecords
package import TrackModel
package import TrackStore

/// Services and their keys, also while a server runs on the same store.
package struct ServiceAdministration: Sendable {
    /// By the clock that the store's times are of.
    package static var now: Timestamp { SystemClock.now() }

    let store: any TrackStore
    let protection: SecretProtection
    let acts: AuditLog
    /// For work of many steps: a server may serve the store meanwhile.
    let writing: StepwiseWriting

    /// Opens the store of a configuration; it must exist.
    package init(_ configuration: ServerConfiguration) async throws(ServerError) {
        let opened = try await StoreFactory.openForCommand(configuration.store)
        self.init(store: opened.store, protection: opened.protection)
    }

    init(
        store: any TrackStore, protection: SecretProtection = .none, writing: StepwiseWriting = StepwiseWriting(),
        acts: AuditLog = AuditLog()
    ) {
        self.store = store
        self.protection = protection
        self.acts = acts
        self.writing = writing
    }

    package struct NewKey: Sendable {
        package let service: ServiceID
        package let accessKey: Secret
        /// The `sk` with which requests must be signed; nil when they need not be.
        package let signingKey: Secret?
        package let rights: KeyRights
        /// False: whoever can read the database can read the signing key.
        package let isSigningKeySealed: Bool
    }

    /// A service with one key, which reads and writes. `isForLegacyDevices`: vehicles may log in with the key too.
    package func create(
        named name: String, isSigned: Bool, isForLegacyDevices: Bool = false
    ) async throws(ServerError) -> NewKey {
        let name = try Self.checked(name)
        guard !isSigned || !isForLegacyDevices else { throw Self.vehiclesCannotSign }
        do throws(TrackStoreError) {
            let service = try await store.createService(named: name, at: SystemClock.now())
            acts.note(.serviceCreate, in: service.id)
            return try await addKey(
                to: service.id, isSigned: isSigned, rights: .clients(andVehicles: isForLegacyDevices), replacing: false)
        } catch {
            throw ServerError(error)
        }
    }

    /// In the order of their numbers.
    package func list() async throws(ServerError) -> [ServiceRecord] {
        do throws(TrackStoreError) {
            return try await store.services()
        } catch {
            throw ServerError(error)
        }
    }

    /// Gives a service another name; its number stays.
    package func rename(_ service: Int64, to name: String) async throws(ServerError) {
        let id = try await known(service)
        let name = try Self.checked(name)
        do throws(TrackStoreError) {
            try await store.renameService(id, to: name)
            acts.note(.serviceRename, in: id, about: name)
        } catch {
            throw ServerError(error)
        }
    }

    /// Says how long a service keeps its points. The running server removes older ones within an hour.
    package func setRetention(_ retention: Retention, of service: Int64) async throws(ServerError) {
        let id = try await known(service)
        do throws(TrackStoreError) {
            try await store.setRetention(retention, of: id)
            acts.note(.serviceRetention, in: id, about: "\(retention)")
        } catch {
            throw ServerError(error)
        }
    }

    /// Says how the Web API answers the clients of a service; the running server does so at once. Returns what is in force
    /// for the service. What `change` leaves as it is stays so.
    package func changeAnswers(
        of service: Int64, _ change: (inout AnswerForms) -> Void
    ) async throws(ServerError) -> AnswerForms {
        let id = try await known(service)
        do throws(TrackStoreError) {
            let former = try await store.answers(of: id)
            var answers = former
            change(&answers)
            guard answers != former else { return answers }
            try await store.setAnswers(answers, of: id)
            acts.note(.serviceAnswers, in: id, about: answers.text)
            return answers
        } catch {
            throw ServerError(error)
        }
    }

    /// A new key; `keepingOld` leaves the earlier ones valid, so that vehicles can be moved one by one. Vehicles may log in with
    /// it when they may with an earlier one, and it is not signed: a vehicle cannot sign.
    package func rotateKey(
        of service: Int64, keepingOld: Bool, isSigned: Bool
    ) async throws(ServerError) -> NewKey {
        let id = try await known(service)
        do throws(TrackStoreError) {
            let hasVehicles = try await store.keys(of: id).contains {
                $0.rights.scopes.contains(.legacyDevice) && Self.state(of: $0) == "valid"
            }
            return try await addKey(
                to: id, isSigned: isSigned, rights: .clients(andVehicles: !isSigned && hasVehicles),
                replacing: !keepingOld)
        } catch {
            throw ServerError(error)
        }
    }

    /// Sets the app code of a service; nil: it has none from now on. Sessions that are logged in go on.
    package func setAppCode(_ appCode: Secret?, of service: Int64) async throws(ServerError) {
        let id = try await known(service)
        if let code = appCode?.revealed {
            let hasControl = code.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
            guard (1...256).contains(code.utf8.count), !hasControl else {
                throw ServerError(
                    .usage,
                    "an app code has 1 to 256 bytes of UTF-8 and no control characters, this one has \(code.utf8.count) bytes"
                )
            }
        }
        do throws(TrackStoreError) {
            try await store.setAppCode(appCode?.revealed, of: id)
            acts.note(.serviceAppCode, in: id, about: appCode == nil ? "cleared" : "set")
        } catch {
            throw ServerError(error)
        }
    }

    func addKey(
        to service: ServiceID, isSigned: Bool, rights: KeyRights, replacing: Bool
    ) async throws(TrackStoreError) -> NewKey {
        var generator = SystemRandomNumberGenerator()
        let key = AccessKey.generate(using: &generator)
        let signingKey = isSigned ? AccessKey.generate(using: &generator).revealed : nil
        try await store.addKey(
            KeyGrant(key.hash, secret: signingKey, rights: rights), to: service, replacing: replacing,
            at: SystemClock.now())
        acts.note(
            .keyCreate, in: service,
            about: key.hash.number + (replacing ? ", and the earlier ones ended" : ""))
        let isSealed = if case .sealed = protection { true } else { false }
        return NewKey(
            service: service, accessKey: Secret(key.revealed), signingKey: signingKey.map(Secret.init), rights: rights,
            isSigningKeySealed: isSealed)
    }

    /// A name is for people, on one line of a table.
    static func checked(_ name: String) throws(ServerError) -> String {
        guard !name.isEmpty, name.utf8.count <= 128 else {
            throw ServerError(.usage, "a service's name has 1 to 128 bytes of UTF-8, this one has \(name.utf8.count)")
        }
        if let problem = NameRules.problem(with: name, "a service's name") { throw ServerError(.usage, problem) }
        return name
    }
}

extension AnswerForms {
    /// For people: what the service says of its answers.
    package var text: String {
        "vertexes \(vertices?.rawValue ?? "default"), unknown-entity \(unknownEntity?.rawValue ?? "default")"
    }
}

extension KeyRights {
    /// Of the keys that `init`, `service create` and `service rotate-key` make.
    fileprivate static func clients(andVehicles: Bool) -> KeyRights {
        andVehicles ? .former : KeyRights([.read, .write])
    }
}

// The end of a service.
extension ServiceAdministration {
    /// What a deletion would take away.
    package struct DeletionPlan: Sendable {
        package let service: ServiceRecord
        package let holdings: ServiceHoldings
    }

    /// Nil: the service was deleted before, and what is left of it goes with ``removeDeletedServices()``.
    package func deletionPlan(for service: Int64) async throws(ServerError) -> DeletionPlan? {
        do throws(TrackStoreError) {
            if let id = ServiceID(rawValue: service) {
                if let record = try await store.services().first(where: { $0.id == id }) {
                    return DeletionPlan(service: record, holdings: try await store.holdings(of: id))
                }
                if try await !store.deletedServices(among: [id]).isEmpty { return nil }
            }
        } catch {
            throw ServerError(error)
        }
        throw ServerError(.notFound, "there is no service \(service): `saker-server service list` shows all")
    }

    /// From its return on, nothing of the service opens anything. Nobody can undo it.
    package func delete(_ plan: DeletionPlan) async throws(ServerError) {
        let (service, held) = (plan.service, plan.holdings)
        do throws(TrackStoreError) {
            try await store.deleteService(service.id)
            acts.note(
                .serviceDelete, in: service.id,
                about: "\(service.name) (\(held.entities) entities, \(held.points) points, \(held.keys) keys, "
                    + "\(held.devices) devices)")
        } catch {
            throw ServerError(error)
        }
    }

    /// Removes what deleted services had. `onStep` hears how many rows are gone. A running server goes on when this process ends
    /// before.
    package func removeDeletedServices(onStep: (Int) -> Void) async throws(ServerError) {
        var (removed, writing) = (0, writing)
        do throws(TrackStoreError) {
            while true {
                let count = try await writing.step { () async throws(TrackStoreError) in
                    try await store.removeDeletedServices(limit: ServiceRemoving.rowsAtOnce)
                }
                if count == 0 { return }
                removed += count
                onStep(removed)
            }
        } catch {
            throw ServerError(error)
        }
    }
}
