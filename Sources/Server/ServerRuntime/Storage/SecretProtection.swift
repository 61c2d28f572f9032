/// How signing keys stand in the store.
enum SecretProtection: Sendable {
    /// Readable: the configuration names no key to encrypt them with.
    case none
    case sealed(SecretSeal)
    /// A key is configured and cannot be used; why, a sentence. No signing key is read or written.
    case unavailable(String)

    /// `path` nil: none is configured.
    init(keyFile path: String?) {
        guard let path else {
            self = .none
            return
        }
        do throws(ServerError) {
            guard let seal = SecretSeal(hex: try TextFile.read(path)) else {
                self = .unavailable(
                    "\(path) is no key for signing keys: it must hold \(SecretSeal.keyDigits) hexadecimal digits, as "
                        + "`openssl rand -hex 32` makes them")
                return
            }
            self = .sealed(seal)
        } catch {
            self = .unavailable(error.detail)
        }
    }

    /// Why no signing key can be used, if that is so.
    var problem: String? {
        if case .unavailable(let reason) = self { reason } else { nil }
    }
}
