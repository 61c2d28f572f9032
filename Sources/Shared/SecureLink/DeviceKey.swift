internal import COpenSSL
internal import Glibc

/// The private key of a vehicle: made here, or opened where it is. Freed on every path.
@safe package struct DeviceKey: ~Copyable {
    let handle: OpenSSLHandle<PrivateKeyKind>

    init(owning handle: consuming OpenSSLHandle<PrivateKeyKind>) { self.handle = handle }

    /// Makes a key on the curve P-256. Throws `other` when OpenSSL cannot.
    package static func make() throws(SecureLinkError) -> DeviceKey {
        OpenSSLErrorQueue.clear()
        guard let key = unsafe OpenSSLHandle<PrivateKeyKind>(owning: saker_make_p256(nil)) else {
            throw SecureLinkError(.other, "OpenSSL made no key: \(OpenSSLErrorQueue.drain().summary)")
        }
        return DeviceKey(owning: key)
    }

    /// Makes a key in the TPM, by OpenSSL's provider `tpm2`. ``pem`` is then a text that only this TPM can use; open that to
    /// sign. Throws `configuration` when there is no provider or no TPM.
    package static func makeInTPM() throws(SecureLinkError) -> DeviceKey {
        OpenSSLErrorQueue.clear()
        guard unsafe OSSL_PROVIDER_try_load(nil, "tpm2", 1) != nil else {
            throw SecureLinkError(
                .configuration,
                "a key in the TPM needs OpenSSL's provider tpm2, which cannot be loaded. Is it installed (Debian: tpm2-openssl)? "
                    + "Is there a TPM (/dev/tpmrm0), and may this user open it? Otherwise keep the key in a file (--key file): "
                    + OpenSSLErrorQueue.drain().reasons)
        }
        guard let key = unsafe OpenSSLHandle<PrivateKeyKind>(owning: saker_make_p256("provider=tpm2")) else {
            throw SecureLinkError(
                .configuration,
                "the TPM made no key: is there one (/dev/tpmrm0), and may this user open it? \(OpenSSLErrorQueue.drain().reasons)"
            )
        }
        return DeviceKey(owning: key)
    }

    /// Opens a PEM file without passphrase, or a key in a token or TPM. Throws `configuration` or `pinRefused`, with what
    /// to do.
    package static func open(
        _ key: TLSClientOptions.PrivateKey, store: TLSClientOptions.KeyStore = .init()
    ) throws(SecureLinkError) -> DeviceKey {
        switch key {
        case .store(let uri):
            let pin = try store.pinFile.map { file throws(SecureLinkError) in try PIN(file: file) }
            return DeviceKey(owning: try TLSContext.loadKey(storeURI: uri, store, pin))
        case .file(let path):
            try TLSContext.requireReadable(path, what: "device's key")
            OpenSSLErrorQueue.clear()
            guard let file = unsafe OpenSSLHandle<BIOKind>(owning: BIO_new_file(path, "r")),
                // No terminal is asked for a passphrase.
                let key = unsafe OpenSSLHandle<PrivateKeyKind>(
                    owning: PEM_read_bio_PrivateKey(file.pointer, nil, { _, _, _, _ in 0 }, nil))
            else {
                throw SecureLinkError(
                    .configuration,
                    "\(path.printable(limit: 200)) holds no PEM private key without a passphrase: "
                        + OpenSSLErrorQueue.drain().reasons)
            }
            return DeviceKey(owning: key)
        }
    }

    /// The same, and never tries a PIN again that the key's token has refused: the note of that is the file `refusedPINs`,
    /// which the agent has too.
    package static func open(
        _ key: TLSClientOptions.PrivateKey, store: TLSClientOptions.KeyStore, refusedPINs: String
    ) throws(SecureLinkError) -> DeviceKey {
        let refused = RefusedPIN(key, store, notedIn: refusedPINs)
        try refused?.check()
        do throws(SecureLinkError) {
            let opened = try open(key, store: store)
            refused?.forget()
            return opened
        } catch {
            if error.code == .pinRefused { refused?.remember() }
            throw error
        }
    }

    /// The SHA-256 of its public half: the name under which a server knows the key.
    package var publicKey: PublicKeyPin? { unsafe PublicKeyPin(ofKey: handle.pointer) }

    /// The key as PEM text (PKCS #8); of a key in a TPM the text that the provider writes. Throws `other` for a key that
    /// cannot leave its token.
    package func pem() throws(SecureLinkError) -> [UInt8] {
        OpenSSLErrorQueue.clear()
        guard let bio = MemoryBIO(),
            unsafe PEM_write_bio_PrivateKey(bio.pointer, handle.pointer, nil, nil, 0, nil, nil) == 1
        else {
            throw SecureLinkError(.other, "OpenSSL cannot write the key: \(OpenSSLErrorQueue.drain().reasons)")
        }
        return bio.bytes
    }

    /// A request for a certificate (PKCS #10, PEM) with this common name, signed by the key. `name` has at most 64
    /// characters in a certificate; what is longer is cut.
    package func certificateRequest(name: String) throws(SecureLinkError) -> String {
        OpenSSLErrorQueue.clear()
        let failure = { (what: String) in
            SecureLinkError(.other, "the request for a certificate \(what): \(OpenSSLErrorQueue.drain().reasons)")
        }
        guard let request = unsafe OpenSSLHandle<RequestKind>(owning: X509_REQ_new()) else {
            throw failure("cannot be made")
        }
        let text = Array(Self.commonName(name).utf8)
        guard unsafe X509_REQ_set_version(request.pointer, 0) == 1,
            unsafe X509_NAME_add_entry_by_NID(
                X509_REQ_get_subject_name(request.pointer), NID_commonName, saker_MBSTRING_UTF8(), text,
                Int32(text.count), -1, 0) == 1,
            unsafe X509_REQ_set_pubkey(request.pointer, handle.pointer) == 1
        else { throw failure("cannot be filled in") }
        // Ed25519 brings its own digest.
        let isEdwards = unsafe EVP_PKEY_get_id(handle.pointer) == EVP_PKEY_ED25519
        guard unsafe X509_REQ_sign(request.pointer, handle.pointer, isEdwards ? nil : EVP_sha256()) > 0 else {
            throw failure("cannot be signed by the key")
        }
        guard let bio = MemoryBIO(), unsafe PEM_write_bio_X509_REQ(bio.pointer, request.pointer) == 1 else {
            throw failure("cannot be written")
        }
        return String(decoding: bio.bytes, as: UTF8.self)
    }

    /// RFC 5280 allows 64 characters.
    private static func commonName(_ name: String) -> String {
        let cut = String(String.UnicodeScalarView(name.unicodeScalars.prefix(64)))
        return cut.isEmpty ? "saker" : cut
    }
}

enum RequestKind: OpenSSLObjectKind {
    static func free(_ pointer: OpaquePointer) { unsafe X509_REQ_free(pointer) }
}
