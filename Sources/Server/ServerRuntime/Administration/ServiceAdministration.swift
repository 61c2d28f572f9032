package import ConfigurationFile
import Glibc
package import TrackModel
import TrackStore
import TrackStoreSQLite

/// Services and their keys, also while a server runs on the same store.
package struct ServiceAdministration: Sendable {
    let store: SQLiteTrackStore

    /// Opens the store of a configuration; it must exist.
    package init(_ configuration: ServerConfiguration) async throws(ServerError) {
        let path = configuration.store.path
        guard access(path, F_OK) == 0 else {
            throw ServerError(.notFound, "\(path) does not exist: make a server with `saker-server init` first")
        }
        try await self.init(store: path)
    }

    /// Opens a store, or makes it.
    init(store path: String) async throws(ServerError) {
        do throws(TrackStoreError) {
            store = try await SQLiteTrackStore(path: path)
        } catch {
            throw ServerError(error)
        }
    }

    package struct NewKey: Sendable {
        package let service: ServiceID
        package let accessKey: Secret
        /// The `sk` with which requests must be signed; nil when they need not be.
        package let signingKey: Secret?
    }

    package func create(named name: String, isSigned: Bool) async throws(ServerError) -> NewKey {
        let name = try Self.checked(name)
        do throws(TrackStoreError) {
            let service = try await store.createService(named: name, at: SQLiteTrackStoreOptions.systemTime())
            return try await addKey(to: service.id, isSigned: isSigned, replacing: false)
        } catch {
            throw ServerError(error)
        }
    }

    /// In the order of their numbers.
    package func list() async throws(ServerError) -> [(id: ServiceID, name: String)] {
        do throws(TrackStoreError) {
            return try await store.services().map { ($0.id, $0.name) }
        } catch {
            throw ServerError(error)
        }
    }

    /// A new key; `keepingOld` leaves the earlier ones valid, so that vehicles can be moved one by one.
    package func rotateKey(
        of service: Int64, keepingOld: Bool, isSigned: Bool
    ) async throws(ServerError) -> NewKey {
        guard let id = ServiceID(rawValue: service), try await list().contains(where: { $0.id == id }) else {
            throw ServerError(.notFound, "there is no service \(service): `saker-server service list` shows all")
        }
        do throws(TrackStoreError) {
            return try await addKey(to: id, isSigned: isSigned, replacing: !keepingOld)
        } catch {
            throw ServerError(error)
        }
    }

    private func addKey(
        to service: ServiceID, isSigned: Bool, replacing: Bool
    ) async throws(TrackStoreError) -> NewKey {
        var generator = SystemRandomNumberGenerator()
        let key = AccessKey.generate(using: &generator)
        let signingKey = isSigned ? AccessKey.generate(using: &generator).revealed : nil
        try await store.addKey(
            key.hash, secret: signingKey, to: service, replacing: replacing, at: SQLiteTrackStoreOptions.systemTime())
        return NewKey(service: service, accessKey: Secret(key.revealed), signingKey: signingKey.map(Secret.init))
    }

    /// A name is for people, on one line of a table.
    static func checked(_ name: String) throws(ServerError) -> String {
        let hasControl = name.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
        guard !name.isEmpty, name.utf8.count <= 128, !hasControl else {
            throw ServerError(.usage, "a service's name has 1 to 128 bytes of UTF-8 and no control characters")
        }
        return name
    }
}
