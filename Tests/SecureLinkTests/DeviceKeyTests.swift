import Glibc
import Testing

@testable import SecureLink

@Suite(.timeLimit(.minutes(5))) struct DeviceKeyTests {
    let workshop: Workshop

    init() throws { workshop = try Workshop() }

    @Test func aKeyThatIsMadeIsWrittenOpenedAndAsksForACertificate() throws {
        let key = try DeviceKey.make()
        let file = try workshop.write(String(decoding: try key.pem(), as: UTF8.self), to: "device.key")
        #expect(Command.text(of: file).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let opened = try DeviceKey.open(.file(file))
        #expect(opened.publicKey != nil && opened.publicKey == key.publicKey)
        let other = try DeviceKey.make()
        #expect(other.publicKey != key.publicKey)

        let request = try workshop.write(try opened.certificateRequest(name: "货车 07"), to: "request.pem")
        let told = try workshop.openssl(
            "req", "-in", request, "-verify", "-noout", "-subject", "-nameopt", "utf8,-esc_msb", "-text")
        #expect(told.contains("verify OK") && told.contains("货车 07") && told.contains("prime256v1"), "\(told)")
        let digest = try workshop.openssl("req", "-in", request, "-noout", "-pubkey")
        #expect(digest == (try workshop.openssl("pkey", "-in", file, "-pubout")))
    }

    @Test(arguments: [("", "saker"), (String(repeating: "é", count: 80), String(repeating: "é", count: 64))])
    func aNameFitsIntoACertificate(name: String, shown: String) throws {
        let request = try workshop.write(try DeviceKey.make().certificateRequest(name: name), to: "request.pem")
        let told = try workshop.openssl("req", "-in", request, "-noout", "-subject", "-nameopt", "utf8,-esc_msb")
        #expect(told.contains(shown) && !told.contains(shown + "é"), "\(told)")
    }

    @Test(arguments: ["rsa:2048", "ec:P-384", "ed25519"])
    func aKeyOfAnotherKindSignsToo(kind: String) throws {
        let words = kind.split(separator: ":").map(String.init)
        let option = ["rsa": "rsa_keygen_bits:", "ec": "ec_paramgen_curve:"][words[0]]
        var arguments = ["genpkey", "-algorithm", words[0], "-out", "\(workshop.directory)/other.key"]
        if let option { arguments += ["-pkeyopt", option + words[1]] }
        try Command.run(["openssl"] + arguments, output: "\(workshop.directory)/output")
        let key = try DeviceKey.open(.file("\(workshop.directory)/other.key"))
        let request = try workshop.write(try key.certificateRequest(name: "van"), to: "request.pem")
        #expect(try workshop.openssl("req", "-in", request, "-verify", "-noout").contains("verify OK"))
    }

    @Test func whatIsNoKeyIsRefusedAndNamed() throws {
        let text = try workshop.write("no key", to: "text")
        for path in [text, workshop.directory + "/none", workshop.authority.certificate] {
            let error = #expect(throws: SecureLinkError.self) { _ = try DeviceKey.open(.file(path)) }
            #expect(error?.code == .configuration && error?.detail.contains(path) == true)
        }
        _ = try workshop.openssl(
            "pkey", "-in", workshop.authority.key, "-aes128", "-passout", "pass:secret", "-out",
            "\(workshop.directory)/encrypted.key")
        #expect(throws: SecureLinkError(.configuration, "")) {
            _ = try DeviceKey.open(.file("\(workshop.directory)/encrypted.key"))
        }
    }

    @Test func aTPMThatIsNotThereIsSaid() throws {
        let error = #expect(throws: SecureLinkError.self) { _ = try DeviceKey.makeInTPM() }
        #expect(
            error?.code == .configuration && error?.detail.contains("tpm2") == true
                || error?.detail.contains("TPM") == true)
    }

    @Test func aCertificateFileTellsItsTimesAndItsKey() throws {
        let leaf = try workshop.issue("leaf", from: "20200101000000Z", to: "20300101000000Z")
        let chain = try workshop.write(
            Command.text(of: leaf.certificate) + Command.text(of: workshop.authority.certificate), to: "chain.pem")
        let file = try CertificateFile(path: chain)
        #expect(file.leaf == .init(from: 1_577_836_800, until: 1_893_456_000))
        #expect(file.validity == file.leaf)
        #expect(file.key == (try DeviceKey.open(.file(leaf.key))).publicKey)
        for text in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let path = try workshop.write(text, to: "broken.pem")
            #expect(throws: SecureLinkError(.configuration, "")) { try CertificateFile(path: path) }
        }
        let large = try workshop.write(String(repeating: "a", count: 300_000), to: "large.pem")
        #expect(throws: SecureLinkError(.configuration, "")) { try CertificateFile(path: large) }
        #expect(throws: SecureLinkError(.configuration, "")) { try CertificateFile(path: "/dev/zero") }
    }
}
