package import TrackModel
package import TrackStore

// The custom columns of a service.
extension ServiceAdministration {
    /// Adds a column; a vehicle learns of it with its next login. `type` is of no matter for an entity column, whose values
    /// are strings; only such a column may be searchable.
    package func addColumn(
        _ key: String, type: AttributeType, kind: ColumnKind, description: String, isSearchable: Bool,
        to service: Int64
    ) async throws(ServerError) {
        let id = try await known(service)
        switch ColumnKey.problem(with: key, kind) {
        case nil: break
        case .malformed(let rule): throw ServerError(.usage, "'\(key)': \(rule)")
        case .everyPointHasIt:
            throw ServerError(.usage, "'\(key)' needs no column: every point may carry it")
        case .reserved:
            throw ServerError(.usage, "'\(key)' is a name of the Web API or of the system: choose another one")
        }
        let hasControl = description.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
        guard description.utf8.count <= 128, !hasControl else {
            throw ServerError(.usage, "a description has at most 128 bytes of UTF-8 and no control characters")
        }
        guard kind == .track || type == .string else {
            throw ServerError(.usage, "the values of entity columns are strings: give the type string, or none")
        }
        guard kind == .entity || !isSearchable else {
            throw ServerError(.usage, "only entity columns can be searchable")
        }
        let column = ColumnRecord(
            key: key, type: type, description: description, isSearchable: isSearchable,
            created: SystemClock.now())
        do throws(TrackStoreError) {
            try await store.addColumn(column, of: kind, in: id)
            acts.note(.columnAdd, in: id, about: "\(kind.rawValue) \(key)")
        } catch {
            throw ServerError(error)
        }
    }

    /// Deletes a column, of entities with all its values.
    package func deleteColumn(_ key: String, kind: ColumnKind, of service: Int64) async throws(ServerError) {
        let id = try await known(service)
        do throws(TrackStoreError) {
            try await store.deleteColumn(named: key, of: kind, in: id)
            acts.note(.columnDelete, in: id, about: "\(kind.rawValue) \(key)")
        } catch {
            throw ServerError(error)
        }
    }

    /// In the order of their keys.
    package func columns(of service: Int64, kind: ColumnKind) async throws(ServerError) -> [ColumnRecord] {
        let id = try await known(service)
        do throws(TrackStoreError) {
            return try await store.columns(of: kind, in: id)
        } catch {
            throw ServerError(error)
        }
    }

    func known(_ service: Int64) async throws(ServerError) -> ServiceID {
        guard let id = ServiceID(rawValue: service), try await list().contains(where: { $0.id == id }) else {
            throw ServerError(.notFound, "there is no service \(service): `saker-server service list` shows all")
        }
        return id
    }
}
