package import ConfigurationFile
import TrackModel
package import TrackStore

// A service that its clients know from elsewhere.
extension ServiceAdministration {
    /// Bytes of a key that was made elsewhere. The store keeps an unsalted hash, so the key must not be easy to guess.
    private static let keyBytes = 16...128

    /// Makes the service with its number, unless it is there, and adds its key, so that clients go on with what they have.
    /// `name` nil: the service must be there. Returns whether the service was made.
    package func importKey(
        _ key: Secret, secret: Secret?, of service: Int64, named name: String?, rights: KeyRights
    ) async throws(ServerError) -> (isNew: Bool, number: String) {
        guard let id = ServiceID(rawValue: service) else {
            throw ServerError(.usage, "a service has a number from 1 to 2147483647, not \(service)")
        }
        try Self.check(key, "the access key")
        if let secret { try Self.check(secret, "the signing key") }
        let hash = AccessKey(key.revealed).hash
        do throws(TrackStoreError) {
            let isKnown = try await store.services().contains { $0.id == id }
            if !isKnown {
                guard let name else {
                    throw TrackStoreError(.unknownService, "there is no service \(service): give --name to make it")
                }
                _ = try await store.createService(
                    named: try checkedName(name), numbered: id, at: SystemClock.now())
            }
            try await store.addKey(
                KeyGrant(hash, secret: secret?.revealed, rights: rights), to: id, replacing: false,
                at: SystemClock.now())
            acts.note(.serviceImport, in: id, about: hash.number)
            return (!isKnown, hash.number)
        } catch {
            throw ServerError(error)
        }
    }

    private func checkedName(_ name: String) throws(TrackStoreError) -> String {
        do throws(ServerError) {
            return try Self.checked(name)
        } catch {
            throw TrackStoreError(.failed, error.detail)
        }
    }

    private static func check(_ key: Secret, _ what: String) throws(ServerError) {
        let bytes = key.revealed.utf8
        guard keyBytes.contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ServerError(
                .usage,
                "\(what) has \(keyBytes.lowerBound) to \(keyBytes.upperBound) visible ASCII characters, this one has "
                    + "\(bytes.count) bytes")
        }
    }
}
