import Glibc
import Testing

@testable import SecureLink

@Suite(.timeLimit(.minutes(5))) struct ContextTests {
    let workshop: Workshop
    let identity: Workshop.Issued

    init() throws {
        workshop = try Workshop()
        identity = try workshop.issue("box")
    }

    private func failure(_ options: TLSClientOptions) -> SecureLinkError? {
        do throws(SecureLinkError) {
            _ = try TLSContext(options)
            return nil
        } catch {
            return error
        }
    }

    private func options(chain: String? = nil, key: TLSClientOptions.PrivateKey) -> TLSClientOptions {
        TLSClientOptions(clientCertificate: .init(chainFile: chain ?? identity.certificate, key: key))
    }

    @Test func aFileThatIsMissingOrEmptyIsNamed() throws {
        let empty = try workshop.write("", to: "empty")
        let none = workshop.directory + "/none"
        for file in [empty, none, workshop.directory] {
            for options in [
                TLSClientOptions(trust: .authorities(file: file)), options(chain: file, key: .file(identity.key)),
                options(key: .file(file)), options(key: .store(uri: "file:\(file)")),
            ] {
                let error = failure(options)
                #expect(error?.code == .configuration)
                #expect(error?.detail.contains(file) == true)
            }
        }
    }

    @Test func aKeyOfAnotherCertificateIsRefused() throws {
        let other = try workshop.issue("other")
        #expect(failure(options(key: .file(other.key)))?.code == .configuration)
        #expect(failure(options(key: .store(uri: "file:\(other.key)")))?.code == .configuration)
        #expect(failure(options(key: .file(identity.key))) == nil)
        #expect(failure(options(key: .store(uri: "file:\(identity.key)"))) == nil)
    }

    @Test func anEncryptedKeyIsRefusedWithoutAskingATerminal() throws {
        _ = try workshop.openssl(
            "pkey", "-in", identity.key, "-aes128", "-passout", "pass:secret", "-out",
            "\(workshop.directory)/encrypted.key")
        for key in ["", "file:"].map({
            TLSClientOptions.PrivateKey(parsing: "\($0)\(workshop.directory)/encrypted.key")
        }) {
            #expect(failure(options(key: key))?.code == .configuration)
        }
    }

    @Test func anEncryptedKeyOpensWithItsPassphraseFile() throws {
        let encrypted = "\(workshop.directory)/locked.key"
        _ = try workshop.openssl("pkey", "-in", identity.key, "-aes128", "-passout", "pass:s3cret", "-out", encrypted)
        func failure(passphrase: String, mode: mode_t = 0o600) throws -> SecureLinkError? {
            let file = try workshop.write(passphrase, to: "passphrase", mode: mode)
            var options = options(key: .store(uri: "file:\(encrypted)"))
            options.clientCertificate?.store.pinFile = file
            #expect(options.files.contains(encrypted) && options.files.contains(file))
            return self.failure(options)
        }
        #expect(try failure(passphrase: " s3cret\n") == nil)
        for wrong in ["wr0ng", "", "\n", "a\0b", String(repeating: "x", count: 1025)] {
            let error = try failure(passphrase: wrong)
            #expect(error?.code == .configuration)
            #expect(error?.detail.contains("wr0ng") == false)
        }
        #expect(try failure(passphrase: "")?.detail.contains("is empty") == true)
        var open = options(key: .store(uri: "file:\(encrypted)"))
        let file = try workshop.write("s3cret", to: "passphrase", mode: 0o644)
        open.clientCertificate?.store.pinFile = file
        #expect(try TLSContext(open).warnings == [.pinFileOpenToOthers(path: file, mode: 0o644)])
    }

    @Test func whatCannotOpenAStoreIsNamed() throws {
        var options = options(key: .store(uri: "pkcs11:object=key"))
        options.clientCertificate?.store = .init(opener: .init(parsing: "nosuch"))
        #expect(failure(options)?.detail.contains("the OpenSSL provider \"nosuch\"") == true)
        options.clientCertificate?.store = .init(opener: .init(parsing: "engine:nosuch"))
        #expect(failure(options)?.detail.contains("the OpenSSL engine \"nosuch\"") == true)
        options.clientCertificate?.store = .init(opener: .provider("default"), module: "/none.so")
        #expect(failure(options)?.detail.contains("openssl.cnf") == true)
    }

    /// A replaced, changed or removed file shows; the same one does not.
    @Test func otherFilesHaveOtherStamps() throws {
        let options = options(key: .file(identity.key))
        let before = TLSFileStamps(of: options)
        #expect(TLSFileStamps(of: options) == before)
        let key = Command.text(of: identity.key)
        rename(try workshop.write(key, to: "new.key"), identity.key)
        let replaced = TLSFileStamps(of: options)
        #expect(replaced != before)
        unlink(identity.key)
        #expect(TLSFileStamps(of: options) != replaced)
    }

    @Test func anUnknownStoreSaysWhatIsMissingAndHidesItsPIN() {
        for scheme in ["pkcs11", "vault"] {
            let error = failure(options(key: .store(uri: "\(scheme):token=box;object=key?pin-value=73541&x=y")))
            #expect(error?.code == .configuration)
            if scheme == "vault" { #expect(error?.detail.contains("provider") == true) }
            #expect(error?.detail.contains("73541") == false)
            #expect(error?.detail.contains("\(scheme):token=box;object=key?pin-value=…&x=y") == true)
        }
        #expect(TLSContext.redacted(storeURI: "pkcs11:PIN-VALUE=73541") == "pkcs11:pin-value=…")
        #expect(TLSContext.redacted(storeURI: "pkcs11:a=b?pin-value=73541;") == "pkcs11:a=b?pin-value=…;")
    }

    @Test(arguments: [
        ("/etc/saker/key.pem", TLSClientOptions.PrivateKey.file("/etc/saker/key.pem")),
        ("key.pem", .file("key.pem")), ("./a:b", .file("./a:b")), (":x", .file(":x")),
        ("pkcs11:object=box", .store(uri: "pkcs11:object=box")),
        ("handle:0x81000001", .store(uri: "handle:0x81000001")),
        ("file:/etc/key.pem", .store(uri: "file:/etc/key.pem")),
    ])
    func pathsAndStoreURIsAreToldApart(text: String, key: TLSClientOptions.PrivateKey) {
        #expect(TLSClientOptions.PrivateKey(parsing: text) == key)
    }

    @Test func aKeyOpenToOthersIsWarnedAbout() throws {
        chmod(identity.key, 0o640)
        let open = try TLSContext(options(key: .file(identity.key)))
        #expect(open.warnings == [.keyFileOpenToOthers(path: identity.key, mode: 0o640)])
        #expect(open.warnings.first?.description.contains("chmod 600") == true)
        chmod(identity.key, 0o400)
        #expect(try TLSContext(options(key: .file(identity.key))).warnings.isEmpty)
    }

    @Test func trustInPinsNeedsPins() {
        #expect(failure(TLSClientOptions(trust: .pinnedKeys))?.code == .configuration)
    }

    @Test(arguments: ["", String(repeating: "x", count: 256)])
    func anApplicationProtocolHasALength(name: String) {
        #expect(failure(TLSClientOptions(applicationProtocol: name))?.code == .configuration)
    }

    @Test(arguments: [
        "", "sha256//", "sha1//AAAA", "sha256//" + String(repeating: "A", count: 44),
        "sha256//" + String(repeating: "A", count: 42) + "==", "sha256//" + String(repeating: "!", count: 43) + "=",
        "sha256//" + String(repeating: "A", count: 43) + "= ", "SHA256//" + String(repeating: "A", count: 43) + "=",
    ])
    func whatIsNoPinIsRefused(text: String) {
        #expect(throws: SecureLinkError(.configuration, "")) { try PublicKeyPin(parsing: text) }
    }

    @Test func aPinIsWrittenAsItIsRead() throws {
        let text = "sha256//" + String(repeating: "B", count: 42) + "A="
        #expect(try PublicKeyPin(parsing: text).description == text)
    }

    @Test(arguments: ["", ".", "a b", "a\0b", "bücher.example", String(repeating: "a", count: 254), "*.example", "-\n"])
    func whatIsNoHostNameIsRefused(host: String) {
        #expect(throws: SecureLinkError(.configuration, "")) { try ServerCertificateName(host: host) }
    }

    @Test(arguments: [
        ("track.example", "track.example", false), ("track.example.", "track.example", false),
        ("192.0.2.1", "192.0.2.1", true), ("2001:db8::1", "2001:db8::1", true), ("fe80::1%eth0", "fe80::1", true),
        ("192.0.2", "192.0.2", false),
    ])
    func namesAndAddressesAreToldApart(host: String, name: String, isAddress: Bool) throws {
        let identity = try ServerCertificateName(host: host)
        #expect(identity.name == name)
        #expect(identity.isAddress == isAddress)
    }

    @Test func errorsOfOneCodeAreEqual() {
        #expect(SecureLinkError(.reset, "a") == SecureLinkError(.reset, "b"))
        #expect(SecureLinkError(.reset, "a") != SecureLinkError(.other, "a"))
    }

    @Test func detailsCannotCarryControlCharacters() {
        #expect("a\u{1b}[2J\nb\u{202e}".printable(limit: 20) == "a?[2J?b?")
        #expect("abcdef".printable(limit: 3) == "abc…")
    }
}
