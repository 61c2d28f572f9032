package import TrackStore

// The keys of a service, one by one.
extension ServiceAdministration {
    /// In the order of their making.
    package func keys(of service: Int64) async throws(ServerError) -> [KeyListing] {
        let id = try await known(service)
        do throws(TrackStoreError) {
            return try await store.keys(of: id)
        } catch {
            throw ServerError(error)
        }
    }

    static let vehiclesCannotSign = ServerError(
        .usage, "a vehicle cannot sign requests: --signed and --legacy-device exclude each other")

    /// One word for people.
    package static func state(of key: KeyListing) -> String {
        key.isDisabled ? "revoked" : key.rights.hasEnded(at: SystemClock.now()) ? "ended" : "valid"
    }

    /// A new key beside those that the service has.
    package func createKey(
        for service: Int64, rights: KeyRights, isSigned: Bool
    ) async throws(ServerError) -> NewKey {
        let id = try await known(service)
        guard !rights.scopes.isEmpty else {
            throw ServerError(.usage, "a key without a scope opens nothing: give --scope, or --legacy-device")
        }
        guard !isSigned || !rights.scopes.contains(.legacyDevice) else {
            throw Self.vehiclesCannotSign
        }
        if let end = rights.end, end <= SystemClock.now() {
            throw ServerError(.usage, "the end of the key, \(TimeText.universal(end)), is past")
        }
        do throws(TrackStoreError) {
            return try await addKey(to: id, isSigned: isSigned, rights: rights, replacing: false)
        } catch {
            throw ServerError(error)
        }
    }

    /// Ends one key, or makes it valid again. `number`: the first digits of ``AccessKeyHash/number``, enough of them to name
    /// one key. Returns the whole number.
    package func setKey(
        _ number: String, of service: Int64, isDisabled: Bool
    ) async throws(ServerError) -> String {
        let id = try await known(service)
        let wanted = number.lowercased()
        guard (4...12).contains(wanted.utf8.count), wanted.allSatisfy(\.isHexDigit) else {
            throw ServerError(
                .usage,
                "a key is named by 4 to 12 hexadecimal digits of its number, not by the key itself: "
                    + "`saker-server service keys \(service)` shows the numbers")
        }
        let found = try await keys(of: service).filter { $0.hash.number.hasPrefix(wanted) }
        guard let key = found.first else {
            throw ServerError(
                .notFound,
                "no key of service \(service) has the number \(wanted): `saker-server service keys \(service)` shows all"
            )
        }
        guard found.count == 1 else {
            throw ServerError(
                .usage, "\(found.count) keys of service \(service) begin with \(wanted): give more digits")
        }
        do throws(TrackStoreError) {
            try await store.setKey(AccessKeyUse(service: id, hash: key.hash), isDisabled: isDisabled)
            acts.note(isDisabled ? .keyRevoke : .keyEnable, in: id, about: key.hash.number)
        } catch {
            throw ServerError(error)
        }
        return key.hash.number
    }
}
