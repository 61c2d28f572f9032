package import ConfigurationFile
package import TrackModel
package import TrackStore

// Tokens with which vehicles claim identities of their own.
extension ServiceAdministration {
    /// What a token is made of; see ``NewToken``.
    package struct TokenOptions: Sendable {
        package var uses = 1
        package var end: Timestamp?
        package var pattern = NamePattern.wish
        package var approval = TokenApproval.automatic
        package var note = ""
        /// See ``NewToken/takesPast``.
        package var takesPast = false

        package init() {}

        /// When a token ends unless somebody says otherwise: in 90 days.
        package static var usualEnd: Timestamp { ServiceAdministration.now.adding(milliseconds: 90 * 86_400_000) }
    }

    /// Makes a token, and returns it with the line that has it: the only time that it is shown.
    package func createToken(
        for service: Int64, _ wish: TokenOptions, _ configuration: ServerConfiguration
    ) async throws(ServerError) -> (token: TokenRecord, line: EnrolmentString) {
        let id = try await known(service)
        try Self.check(wish)
        var generator = SystemRandomNumberGenerator()
        let random = (0..<EnrolmentToken.bytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
        guard let secret = EnrolmentToken.text(of: random) else {
            throw ServerError(.store, "a token has \(EnrolmentToken.bytes) random bytes")
        }
        // Before the token exists: one that nobody can be told is of no use.
        let line = try configuration.enrolmentString(token: secret)
        let new = NewToken(
            hash: TokenHash(of: secret.revealed), service: id, uses: wish.uses, end: wish.end, pattern: wish.pattern,
            approval: wish.approval, note: wish.note, takesPast: wish.takesPast)
        do throws(TrackStoreError) {
            let token = try await store.addToken(new, at: SystemClock.now())
            acts.note(.tokenCreate, in: id, about: "\(token.number)")
            return (token, line)
        } catch {
            throw ServerError(error)
        }
    }

    /// In the order of their numbers.
    package func tokens(of service: Int64?) async throws(ServerError) -> [TokenRecord] {
        var id: ServiceID?
        if let service { id = try await known(service) }
        do throws(TrackStoreError) {
            return try await store.tokens(in: id)
        } catch {
            throw ServerError(error)
        }
    }

    /// Devices of one transaction: logins and points wait no longer than it takes.
    private static let devicesAtOnce = 200

    /// Ends a token, and with `withDevices` shuts out every device that was claimed with it. Returns how many. The token ends
    /// first, so that nobody becomes a device meanwhile; when the rest is cut off, the same call goes on.
    package func revokeToken(_ number: Int64, withDevices: Bool) async throws(ServerError) -> Int {
        do throws(TrackStoreError) {
            let token = try await store.revokeToken(number, at: SystemClock.now())
            acts.note(.tokenRevoke, in: token.service, about: "\(number)\(withDevices ? " with devices" : "")")
        } catch {
            throw ServerError(error)
        }
        var devices = 0
        if withDevices { try await revokeDevices(ofToken: number) { _ in devices += 1 } }
        return devices
    }

    /// Shuts out every device that was claimed with a token, which stays as it is. `onDevice` hears of each.
    package func revokeDevices(
        ofToken number: Int64, onDevice: (DeviceRecord) -> Void
    ) async throws(ServerError) {
        var writing = writing
        do throws(TrackStoreError) {
            while true {
                let revoked = try await writing.step { () async throws(TrackStoreError) in
                    try await store.revokeDevices(ofToken: number, limit: Self.devicesAtOnce)
                }
                if revoked.isEmpty { return }
                for device in revoked {
                    acts.note(.deviceRevoke, in: device.service, about: "\(device.id)")
                    onDevice(device)
                }
            }
        } catch {
            throw ServerError(error)
        }
    }

    private static func check(_ wish: TokenOptions) throws(ServerError) {
        guard (1...NewToken.mostUses).contains(wish.uses) else {
            throw ServerError(.usage, "--uses \(wish.uses): a token makes 1 to \(NewToken.mostUses) devices")
        }
        guard wish.uses == 1 || wish.pattern.isForMany else {
            throw ServerError(
                .usage,
                "--name \(wish.pattern): each of \(wish.uses) vehicles needs a name of its own: give {entity}, {serial} or "
                    + "{number} in it")
        }
        if let end = wish.end, end <= SystemClock.now() { throw ServerError(.usage, "--until is past") }
        if let problem = wish.approval.problem { throw ServerError(.usage, "--approve: \(problem)") }
        let hasControl = wish.note.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
        guard !hasControl, wish.note.utf8.count <= 256 else {
            throw ServerError(.usage, "--note: a note has at most 256 bytes and no control characters")
        }
    }
}

/// A file with serial numbers: the first column of CSV, one a line.
package enum SerialList {
    /// Empty lines, lines that begin with `#` and a first line `serial` are passed over.
    package static func read(_ path: String) throws(ServerError) -> [String] {
        var serials: [String] = []
        let lines = try TextFile.read(path, limit: 16 << 20).split(whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            var field = line.prefix { $0 != "," && $0 != ";" && $0 != "\t" }
            while let first = field.first, first.isWhitespace || first == "\"" || first == "\u{FEFF}" {
                field.removeFirst()
            }
            while let last = field.last, last.isWhitespace || last == "\"" { field.removeLast() }
            if field.isEmpty || field.hasPrefix("#") || index == 0 && field.lowercased() == "serial" { continue }
            serials.append(String(field))
        }
        return serials
    }
}
