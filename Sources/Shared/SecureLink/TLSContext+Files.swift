internal import COpenSSL
internal import Glibc

/// Reads the files that the options name: authorities, certificates, keys. Each error says which file, why, and what to
/// do.
extension TLSContext {
    static func loadTrust(_ options: TLSClientOptions, into context: OpaquePointer) throws(SecureLinkError) {
        OpenSSLErrorQueue.clear()
        switch options.trust {
        case .systemRoots:
            guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
                throw SecureLinkError(
                    .configuration,
                    "the system's certificate authorities cannot be used: \(OpenSSLErrorQueue.drain().summary)")
            }
        case .authorities(let file):
            try requireReadable(file, what: "authorities")
            guard unsafe SSL_CTX_load_verify_file(context, file) == 1 else {
                throw SecureLinkError(
                    .configuration,
                    "\(file.printable(limit: 200)) holds no PEM certificates: \(OpenSSLErrorQueue.drain().summary)")
            }
        case .pinnedKeys:
            guard !options.pins.isEmpty else {
                throw SecureLinkError(
                    .configuration, "trust in pinned keys needs at least one pin, written sha256//BASE64")
            }
        }
    }

    static func loadClientCertificate(
        _ certificate: TLSClientOptions.ClientCertificate, into context: OpaquePointer
    ) throws(SecureLinkError) -> [TLSWarning] {
        OpenSSLErrorQueue.clear()
        try requireReadable(certificate.chainFile, what: "client certificate")
        unsafe try use(chain: certificate.chainFile, in: context)
        switch certificate.key {
        case .file(let path):
            let warnings = try permissionWarnings(ofKey: path)
            unsafe try pair(certificate, path.printable(limit: 200), in: context) {
                unsafe SSL_CTX_use_PrivateKey_file(context, path, SSL_FILETYPE_PEM) == 1
                    ? nil : "is not a PEM private key without a passphrase, or does not belong to the certificate"
            }
            return warnings
        case .store(let uri):
            let pin = try certificate.store.pinFile.map { file throws(SecureLinkError) in try PIN(file: file) }
            var warnings: [TLSWarning] = []
            if let file = certificate.store.pinFile {
                warnings = openToOthers(file).map { [.pinFileOpenToOthers(path: file, mode: $0)] } ?? []
            }
            let key = try loadKey(storeURI: uri, certificate.store, pin)
            let pointer = unsafe key.pointer
            unsafe try pair(certificate, redacted(storeURI: uri), in: context) {
                unsafe SSL_CTX_use_PrivateKey(context, pointer) == 1 ? nil : "is not the certificate's key"
            }
            withExtendedLifetime(key) {}
            return warnings
        }
    }

    private static func use(chain file: String, in context: OpaquePointer) throws(SecureLinkError) {
        guard unsafe SSL_CTX_use_certificate_chain_file(context, file) == 1 else {
            throw SecureLinkError(
                .configuration,
                "\(file.printable(limit: 200)) holds no PEM certificate chain: " + OpenSSLErrorQueue.drain().summary)
        }
    }

    /// Puts the key beside the certificate, or beside the next one, if it is that one's. `useKey` returns what is wrong; nil: the
    /// context has the key. `name`: of the key.
    private static func pair(
        _ certificate: TLSClientOptions.ClientCertificate, _ name: String, in context: OpaquePointer,
        useKey: () -> String?
    ) throws(SecureLinkError) {
        func problem() -> SecureLinkError? {
            if let problem = useKey() { return keyError(name, problem) }
            guard unsafe SSL_CTX_check_private_key(context) != 1 else { return nil }
            return keyError(name, "is not the key of \(certificate.chainFile.printable(limit: 200))")
        }
        guard let first = problem() else { return }
        guard let next = certificate.nextChainFile, unsafe access(next, R_OK) == 0 else { throw first }
        do throws(SecureLinkError) {
            try requireReadable(next, what: "next client certificate")
            unsafe try use(chain: next, in: context)
            if let second = problem() { throw second }
        } catch {
            throw first
        }
    }

    // OpenSSL attaches the whole URI, which may contain the PIN. So only OpenSSL's reasons are shown.
    static func keyError(_ name: String, _ problem: String) -> SecureLinkError {
        SecureLinkError(
            .configuration, "the client certificate's key \(name) \(problem): \(OpenSSLErrorQueue.drain().reasons)")
    }

    /// The store URI without its PIN: leaves out everything after `pin-value=` up to the next separator.
    static func redacted(storeURI uri: String) -> String {
        var shown = ""
        var rest = uri[...]
        while let separator = rest.firstIndex(where: { ";?&:".contains($0) }) {
            shown += redacted(attribute: rest[..<separator]) + String(rest[separator])
            rest = rest[rest.index(after: separator)...]
        }
        return (shown + redacted(attribute: rest)).printable(limit: 200)
    }

    private static func redacted(attribute: Substring) -> String {
        guard let equals = attribute.firstIndex(of: "=") else { return String(attribute) }
        let key = attribute[..<equals].lowercased()
        return key == "pin-value" || key == "pin" || key == "password" ? "\(key)=…" : String(attribute)
    }

    static func requireReadable(_ path: String, what: String) throws(SecureLinkError) {
        var status = stat()
        let kind = unsafe stat(path, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        // Nobody may ever write into a pipe, and a device never ends.
        guard kind == S_IFREG || kind == S_IFDIR else {
            throw SecureLinkError(
                .configuration,
                "the file of the \(what), \(path.printable(limit: 200)), is a pipe, a socket or a device: name a regular file"
            )
        }
        guard unsafe access(path, R_OK) != 0 else { return }
        let reason = unsafe String(cString: strerror(errno))
        throw SecureLinkError(
            .configuration, "the file of the \(what), \(path.printable(limit: 200)), cannot be read: \(reason)")
    }

    private static func permissionWarnings(ofKey path: String) throws(SecureLinkError) -> [TLSWarning] {
        try requireReadable(path, what: "client certificate's key")
        return openToOthers(path).map { [.keyFileOpenToOthers(path: path, mode: $0)] } ?? []
    }

    /// The permission bits of a file that other users than the owner may use; nil when only the owner may.
    private static func openToOthers(_ path: String) -> UInt32? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        var forbidden = S_IRWXG | S_IRWXO
        // systemd gives its service access to a credential by an access control list, which looks like a right of the
        // group.
        if let directory = unsafe getenv("CREDENTIALS_DIRECTORY"), path.hasPrefix(unsafe String(cString: directory)) {
            forbidden &= ~S_IRGRP
        }
        let mode = status.st_mode & 0o777
        return mode & forbidden == 0 ? nil : mode
    }
}
