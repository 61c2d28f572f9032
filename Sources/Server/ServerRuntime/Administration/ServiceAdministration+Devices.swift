import TrackModel
package import TrackStore

// Vehicles with certificates of their own.
extension ServiceAdministration {
    /// Adds a device and issues its certificate. `request`: PKCS #10 in PEM; the key stays where the request was made.
    package func addDevice(
        to service: Int64, as entity: String, named name: String, request: String, _ configuration: ServerConfiguration
    ) async throws(ServerError) -> (device: DeviceRecord, certificate: String) {
        let id = try await known(service)
        try await check(entity: entity, in: id)
        try Self.check(deviceName: name)
        let authority = try DeviceCertificate.Authority(try DeviceAuthority.load(configuration))
        let request = try DeviceCertificate.request(request)
        var generator = SystemRandomNumberGenerator()
        let number = DeviceID.random(using: &generator)
        let now = SystemClock.now()
        let end = authority.end(at: now)
        let certificate = try DeviceCertificate.issue(
            request, to: number, until: end, signedBy: authority, at: now)
        let device = DeviceRecord(
            id: number, service: id, entity: entity, name: name, keyHash: request.keyHash, created: now,
            certificateEnd: end)
        do throws(TrackStoreError) {
            try await store.addDevice(device)
        } catch {
            throw ServerError(error)
        }
        acts.note(.deviceAdd, in: id, about: "\(number)")
        return (device, certificate)
    }

    /// In the order of their making.
    package func devices(
        of service: Int64?, in state: DeviceRecord.State? = nil, token: Int64? = nil
    ) async throws(ServerError) -> [DeviceRecord] {
        var filter = DeviceFilter(state: state, token: token)
        if let service { filter.service = try await known(service) }
        return try await devices(matching: filter)
    }

    func devices(matching filter: DeviceFilter) async throws(ServerError) -> [DeviceRecord] {
        do throws(TrackStoreError) {
            // In one page: each page would sort all of them again.
            return try await store.devices(matching: filter, page: Page(offset: 0, limit: .max)).devices
        } catch {
            throw ServerError(error)
        }
    }

    /// The device that a person means: by the first digits of its number, at least four, or by its entity when one device is it.
    package func device(_ selector: String) async throws(ServerError) -> DeviceRecord {
        if let id = DeviceID(selector) {
            do throws(TrackStoreError) {
                if let device = try await store.device(id) { return device }
            } catch {
                throw ServerError(error)
            }
        }
        let found: (total: Int, devices: [DeviceRecord])
        do throws(TrackStoreError) {
            found = try await store.devices(
                matching: DeviceFilter(selector: selector), page: Page(offset: 0, limit: 1))
        } catch {
            throw ServerError(error)
        }
        guard let device = found.devices.first else {
            throw ServerError(
                .notFound, "no device has the number or the entity \(selector): `saker-server device list` shows all")
        }
        guard found.total == 1 else {
            throw ServerError(
                .usage,
                "\(selector) may mean \(found.total) devices: give more digits of the number that `saker-server device "
                    + "list` shows")
        }
        return device
    }

    package func renameDevice(_ selector: String, to name: String) async throws(ServerError) -> DeviceRecord {
        try Self.check(deviceName: name)
        return try await change(selector, .name(name), .deviceRename)
    }

    /// Makes the device another entity. What it was before it may still upload.
    package func moveDevice(_ selector: String, to entity: String) async throws(ServerError) -> DeviceRecord {
        try await check(entity: entity, in: try await device(selector).service)
        return try await change(selector, .entity(entity), .deviceMove)
    }

    /// Its sessions end within a second, and it logs in no more until it is approved.
    package func revokeDevice(_ selector: String) async throws(ServerError) -> DeviceRecord {
        try await change(selector, .state(.revoked), .deviceRevoke)
    }

    /// Lets in a device that was revoked, or that waits since its claim.
    package func approveDevice(_ selector: String) async throws(ServerError) -> DeviceRecord {
        try await change(selector, .state(.active), .deviceApprove)
    }

    /// Its certificate opens nothing any more, and nobody can undo that. Tracks stay.
    package func forgetDevice(_ selector: String) async throws(ServerError) -> DeviceRecord {
        let device = try await device(selector)
        do throws(TrackStoreError) {
            try await store.forgetDevice(device.id)
        } catch {
            throw ServerError(error)
        }
        acts.note(.deviceForget, in: device.service, about: "\(device.id)")
        return device
    }

    /// A sentence for each service in which a key lets vehicles log in under any name.
    package func legacyWarnings() async throws(ServerError) -> [String] {
        var sentences: [String] = []
        for service in try await list() {
            let keys = try await keys(of: service.id.rawValue).filter {
                $0.rights.scopes.contains(.legacyDevice) && !$0.isSigned && Self.state(of: $0) == "valid"
            }
            guard !keys.isEmpty else { continue }
            let numbers = keys.map(\.hash.number).joined(separator: ", ")
            sentences.append(
                "Service \(service.id.rawValue): whoever has the key \(numbers) can log in as any vehicle. When every vehicle "
                    + "has a certificate: saker-server key revoke \(service.id.rawValue) \(keys[0].hash.number)")
        }
        return sentences
    }

    private func change(
        _ selector: String, _ change: DeviceChange, _ act: AdministrativeAct
    ) async throws(ServerError) -> DeviceRecord {
        let device = try await device(selector)
        do throws(TrackStoreError) {
            let changed = try await store.changeDevice(device.id, change)
            acts.note(act, in: changed.service, about: "\(changed.id)")
            return changed
        } catch {
            throw ServerError(error)
        }
    }

    private func check(entity: String, in service: ServiceID) async throws(ServerError) {
        let problem: String?
        do throws(TrackStoreError) {
            problem = try await store.problem(withName: entity, in: service)
        } catch {
            throw ServerError(error)
        }
        if let problem { throw ServerError(.usage, "\"\(entity)\": \(problem)") }
    }

    /// On one line of a table.
    private static func check(deviceName name: String) throws(ServerError) {
        guard name.utf8.count <= 128 else {
            throw ServerError(.usage, "a device's name has at most 128 bytes of UTF-8, this one has \(name.utf8.count)")
        }
        if let problem = NameRules.problem(with: name, "a device's name") { throw ServerError(.usage, problem) }
    }
}
