internal import COpenSSL
internal import DirectoryAccess
internal import Glibc
internal import Synchronization

/// A PIN or passphrase on its way from its file to OpenSSL. No printed form contains it.
struct PIN: CustomStringConvertible, CustomReflectable {
    /// No token takes a longer one.
    private static let maximumBytes = 1024

    let bytes: [CChar]

    /// Throws `configuration` for a file that cannot be read or holds no PIN.
    init(file: String) throws(SecureLinkError) {
        let name = file.printable(limit: 200)
        try TLSContext.requireReadable(file, what: "PIN")
        guard let handle = unsafe fopen(file, "re") else {
            throw SecureLinkError(
                .configuration,
                unsafe "the file of the PIN, \(name), cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { unsafe fclose(handle) }
        var read = [UInt8](repeating: 0, count: Self.maximumBytes + 1)
        let count = unsafe fread(&read, 1, read.count, handle)
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let text = Array(read.prefix(count).drop(while: isSpace).reversed().drop(while: isSpace).reversed())
        guard !text.isEmpty, count <= Self.maximumBytes, !text.contains(0) else {
            throw SecureLinkError(
                .configuration,
                "the file of the PIN, \(name), \(text.isEmpty ? "is empty" : "holds no PIN"): write the PIN into it and nothing else"
            )
        }
        bytes = text.map { CChar(bitPattern: $0) } + [0]
    }

    var description: String { "<hidden>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Keys that OpenSSL reaches through a URI: in a token, in a TPM, or in an encrypted file.
extension TLSContext {
    static func loadKey(
        storeURI uri: String, _ store: TLSClientOptions.KeyStore, _ pin: PIN?
    ) throws(SecureLinkError) -> OpenSSLHandle<PrivateKeyKind> {
        OpenSSLErrorQueue.clear()
        // A pipe in the place of the file would hold the program up.
        let file = uri.hasPrefix("file:") ? String(uri.dropFirst(5)) : ""
        if file.hasPrefix("/"), !file.contains(where: { "%;?".contains($0) }) {
            try requireReadable(file, what: "client certificate's key")
        }
        switch store.opener {
        case .engine(let name): return try engineKey(uri, engine: name, store, pin)
        case .provider(let name):
            guard store.module == nil else {
                throw keyError(
                    redacted(storeURI: uri),
                    "has a module beside the provider \"\(name.printable(limit: 40))\": the provider's module is set in "
                        + "openssl.cnf (pkcs11-module-path)")
            }
            // Retains the built-in algorithms; loading a provider by hand would otherwise leave them out.
            guard unsafe OSSL_PROVIDER_try_load(nil, name, 1) != nil else {
                throw keyError(
                    redacted(storeURI: uri),
                    "needs the OpenSSL provider \"\(name.printable(limit: 40))\", which cannot be loaded; is it installed?"
                )
            }
            return try storeKey(uri, store, pin)
        case .automatic:
            let scheme = String(uri.prefix { $0 != ":" })
            // Only an engine needs a module. A person who names one has configured no provider.
            let isKnown = unsafe saker_store_knows(scheme) == 1
            OpenSSLErrorQueue.clear()
            if scheme.lowercased() == "pkcs11", store.module != nil || !isKnown {
                return try engineKey(uri, engine: "pkcs11", store, pin)
            }
            return try storeKey(uri, store, pin)
        }
    }

    /// The first private key in an OpenSSL store.
    private static func storeKey(
        _ uri: String, _ store: TLSClientOptions.KeyStore, _ pin: PIN?
    ) throws(SecureLinkError) -> OpenSSLHandle<PrivateKeyKind> {
        let name = redacted(storeURI: uri)
        let key = unsafe (pin?.bytes ?? []).withUnsafeBufferPointer { secret -> OpaquePointer? in
            // The PIN comes from its file, or from another file that the URI names; never from a terminal.
            guard let opened = unsafe saker_store_open(uri, secret.baseAddress) else { return nil }
            defer { unsafe OSSL_STORE_close(opened) }
            // OSSL_STORE_expect is not used, because providers with a whole token handle it differently.
            while unsafe OSSL_STORE_eof(opened) == 0, let info = unsafe OSSL_STORE_load(opened) {
                defer { unsafe OSSL_STORE_INFO_free(info) }
                guard unsafe OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_PKEY else { continue }
                if let key = unsafe OSSL_STORE_INFO_get1_PKEY(info) { return unsafe key }
            }
            return nil
        }
        if let key = unsafe OpenSSLHandle<PrivateKeyKind>(owning: saker_signing_key(key)) { return key }
        let missing =
            pin == nil
            ? "; does it need a PIN or passphrase (client_key_pin_file)?" : "; is the PIN or passphrase right?"
        throw keyError(
            name,
            "cannot be loaded: is what it names there, is the provider for its scheme installed and activated (openssl.cnf, "
                + "client_key_provider)\(missing)")
    }

    /// The PKCS#11 module of the process's engine. The engine is never ended, because ending it would end the sessions
    /// of keys in use.
    private static let engineModule = Mutex<String?>(nil)

    private static func engineKey(
        _ uri: String, engine: String, _ store: TLSClientOptions.KeyStore, _ pin: PIN?
    ) throws(SecureLinkError) -> OpenSSLHandle<PrivateKeyKind> {
        let name = redacted(storeURI: uri)
        let shown = engine.printable(limit: 40)
        guard let handle = unsafe saker_engine(engine) else {
            throw keyError(
                name,
                "needs the OpenSSL engine \"\(shown)\", which cannot be loaded; install it (Debian: libengine-pkcs11-openssl)"
            )
        }
        if let module = store.module {
            let path = module.printable(limit: 200)
            try requireReadable(module, what: "PKCS#11 module (client_key_module)")
            let other = engineModule.withLock { $0 }
            guard other == nil || other == module else {
                throw keyError(name, "cannot be loaded through \(path): this process uses another module; restart it")
            }
            guard unsafe saker_engine_set(handle, "MODULE_PATH", module) == 1 else {
                throw keyError(name, "cannot be loaded: the engine \"\(shown)\" takes no module")
            }
        }
        if let pin {
            guard unsafe saker_engine_set(handle, "PIN", pin.bytes) == 1 else {
                throw keyError(name, "cannot be loaded: the engine \"\(shown)\" takes no PIN")
            }
        }
        if let key = unsafe OpenSSLHandle<PrivateKeyKind>(owning: saker_engine_key(handle, uri)) {
            engineModule.withLock { $0 = store.module ?? $0 }
            return key
        }
        throw tokenError(name, store, hasPIN: pin != nil, OpenSSLErrorQueue.drain())
    }

    private static func tokenError(
        _ name: String, _ store: TLSClientOptions.KeyStore, hasPIN: Bool, _ errors: [OpenSSLError]
    ) -> SecureLinkError {
        let reasons = errors.map(\.reason)
        func has(_ text: String) -> Bool { reasons.contains { $0.hasPrefix(text) } }
        let problem: String
        var code = SecureLinkError.Code.configuration
        let file = store.pinFile?.printable(limit: 200) ?? "its file"
        if has("Unable to load PKCS#11 module") {
            let module = store.module?.printable(limit: 200) ?? "the engine's own"
            problem =
                "cannot be loaded: the PKCS#11 module, \(module), is none; give the token's shared library as client_key_module"
        } else if has("PIN incorrect") || has("PIN invalid") || has("PIN len range") {
            code = .pinRefused
            problem =
                "is refused: the token does not take the PIN in \(file). A token locks after a few wrong PINs: correct the file first"
        } else if has("PIN locked") {
            problem = "is refused: the token is locked after too many wrong PINs; unlock it with its own tool"
        } else if hasPIN {
            problem =
                "is not found: no token that is plugged in has that name, or it holds no such key; look with pkcs11-tool "
                + "--list-token-slots and --list-objects"
        } else {
            problem =
                "is not found: the token is not there, or shows its keys only to a PIN; put that into a file and name it as "
                + "client_key_pin_file"
        }
        return SecureLinkError(
            code, "the client certificate's key \(name) \(problem) (\(errors.reasons))")
    }
}

/// A note on disk that a token refused a PIN. It keeps a program that is restarted again and again from trying the PIN
/// until the token locks.
///
/// The note holds the key's URI and 16 bits that are computed from the PIN. That is enough to see that the PIN has
/// changed, and too little to learn the PIN.
package struct RefusedPIN: Hashable, Sendable {
    private let path: String
    private let text: String
    private let pinFile: String

    /// The note for the key of these options; nil when the key needs no PIN.
    package init?(_ options: TLSClientOptions, notedIn path: String) {
        guard let certificate = options.clientCertificate else { return nil }
        self.init(certificate.key, certificate.store, notedIn: path)
    }

    /// The note for a key; nil when the key needs no PIN.
    init?(_ key: TLSClientOptions.PrivateKey, _ store: TLSClientOptions.KeyStore, notedIn path: String) {
        guard case .store(let uri) = key, let file = store.pinFile, let pin = try? PIN(file: file) else { return nil }
        self.path = path
        pinFile = file
        text = "\(uri)\n\(pin.mark)\n"
    }

    /// Throws `pinRefused` when the note says that this PIN was refused.
    package func check() throws(SecureLinkError) {
        // The directory is the agent's, and root reads it too: no link is followed, and no pipe is waited for.
        let (folder, name) = DirectoryHandle.parts(of: path)
        guard let descriptor = try? DirectoryHandle(folder).open(FileName(name)) else { return }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = max(0, unsafe read(descriptor, &bytes, bytes.count))
        guard String(decoding: bytes.prefix(count), as: UTF8.self) == text else { return }
        throw SecureLinkError(
            .pinRefused,
            "the token has refused the PIN in \(pinFile.printable(limit: 200)) before, and locks after a few wrong ones: it is not "
                + "tried again. Write the right PIN into that file, or remove \(path.printable(limit: 200)) to try it once more"
        )
    }

    /// Agent and command line share the note. So root gives it to the owner of the directory, and makes it anew: a link
    /// that the owner has put there would lead root's writing elsewhere.
    package func remember() {
        let (folder, name) = DirectoryHandle.parts(of: path)
        guard let directory = try? DirectoryHandle(folder) else { return }
        try? directory.remove(FileName(name))
        guard let descriptor = try? directory.create(FileName(name), mode: 0o600) else { return }
        defer { close(descriptor) }
        if geteuid() == 0, let found = directory.status { _ = fchown(descriptor, found.owner, found.group) }
        let bytes = Array(text.utf8)
        _ = unsafe write(descriptor, bytes, bytes.count)
        fsync(descriptor)
    }

    /// The token accepted a PIN.
    package func forget() {
        let (folder, name) = DirectoryHandle.parts(of: path)
        try? DirectoryHandle(folder).remove(FileName(name))
    }
}

extension PIN {
    /// FNV-1a, folded to 16 bits.
    fileprivate var mark: UInt16 {
        let hash = bytes.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32(UInt8(bitPattern: $1))) &* 16_777_619 }
        return UInt16(truncatingIfNeeded: hash ^ (hash >> 16))
    }
}
