import ArgumentParser
import ConfigurationFile
import HTTPExchange
import SecureLink
import Terminal

/// Claims an identity with a token: key, request, claim, files.
struct TokenEnrolment {
    let line: EnrolmentString
    let token: Secret
    let key: DeviceKeyChoice
    let machine: MachineIdentity
    let wishedEntity: String?
    let serial: String?
    let directory: VehicleDirectory

    /// Asks until there is a certificate or a reason why there is none; then writes the files.
    func run(_ machine: EnrolmentMachine) async throws -> DeviceFiles {
        let key = try key.open(in: directory)
        let request: String
        do throws(SecureLinkError) {
            request = try key.certificateRequest(name: wishedEntity ?? "saker")
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
        let body = EnrolmentRequest(
            token: token, certificateRequest: request, entity: wishedEntity, serial: serial ?? self.machine.serial,
            machine: self.machine.mark, model: self.machine.model)
        let address = HTTPAddress(host: line.host, port: Int(line.port))
        let (options, pin) = try trust()
        let client = try EnrolmentClient(address, trusting: options)
        let identity = try await client.claim(body.encoded, key: key.publicKey, machine)
        if let strange = identity.strangeWebAddress {
            Output.complain(
                "saker: the server calls its HTTPS address '\(strange)', and \(WebAddress.rule). The vehicle uses \(address). Tell "
                    + "the server's operator: web_address in [enrollment]")
        }
        return DeviceFiles(
            identity: identity, address: address, pin: pin?.description, key: self.key, machine: self.machine.mark,
            directory: directory)
    }

    /// A line without pin is for a server whose certificate is of an authority that systems trust.
    private func trust() throws(CommandFailure) -> (TLSClientOptions, PublicKeyPin?) {
        let pin: PublicKeyPin?
        switch line.trust {
        case .system: return (.web(.systemRoots, serverName: line.serverName), nil)
        case .pinnedKey(let digest): pin = PublicKeyPin(digest: digest)
        case .certificate(let der):
            // The server shows its authority, so the authority's key says as much as its certificate.
            pin = (try? CertificateFile(pem: Array(PEM.encoded(der).utf8), name: "the line's certificate"))?.key
        }
        guard let pin else {
            throw CommandFailure(.failed, "the line holds no usable key of the server: make a new line")
        }
        return (.web(.pinnedKeys, pins: [pin], serverName: line.serverName), pin)
    }
}

/// What `saker enroll` needs to know when the line has a token.
struct DeviceEnrolmentOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where the vehicle's key is: file (made here, readable for root), tpm (made in the TPM), or the address of a key in "
                + "a token, such as 'pkcs11:token=box;object=key;type=private'.",
            valueName: "place"))
    var key = "file"

    @Option(name: .long, help: ArgumentHelp("The PKCS#11 module of the token, a shared library.", valueName: "path"))
    var keyModule: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file with the token's PIN (default: credentials/token-pin in the directory).", valueName: "path"))
    var keyPinFile: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The OpenSSL provider (pkcs11) or engine (engine:pkcs11) of the token.", valueName: "name"))
    var keyProvider: String?

    @Flag(name: .long, help: "Make another key. The server then takes this vehicle for another device.")
    var newKey = false

    @Option(
        name: .long,
        help: ArgumentHelp("The serial number to give (default: the computer's own).", valueName: "text"))
    var serial: String?

    @Flag(name: .long, help: "If a person must approve the vehicle first, do not wait for it.")
    var noWait = false

    @Flag(
        name: .long,
        help: ArgumentHelp(
            "Nobody watches: wait at random before the first claim, try without end, and remove the file with the line when "
                + "the vehicle is enrolled."))
    var unattended = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The longest random wait before an unattended claim, so that many vehicles do not ask at once.",
            valueName: "seconds"))
    var spread = 600

    func validate() throws {
        guard (0...86_400).contains(spread) else {
            throw ValidationError("--spread \(spread): it must be from 0 to 86400 seconds")
        }
        if let serial, serial.isEmpty || serial.utf8.count > 128 || serial.printable != serial {
            throw ValidationError("--serial: give 1 to 128 printable characters")
        }
        guard !(unattended && noWait) else {
            throw ValidationError("--no-wait and --unattended: an unattended claim waits for its approval")
        }
    }

    /// A line with an access key leaves nothing to choose.
    func refuseWithoutToken() throws(CommandFailure) {
        guard key == "file", keyModule == nil, keyPinFile == nil, keyProvider == nil, !newKey, serial == nil else {
            throw CommandFailure(
                .usage, "this line has an access key, and no key of this vehicle's own: leave out --key… and --serial")
        }
    }

    func keyChoice() throws(CommandFailure) -> DeviceKeyChoice {
        var choice = try DeviceKeyChoice(parsing: key)
        choice.isNew = newKey
        if case .store = choice.place {
            (choice.module, choice.provider, choice.pinFile) = (keyModule, keyProvider, keyPinFile)
            return choice
        }
        guard keyModule == nil, keyPinFile == nil, keyProvider == nil else {
            throw CommandFailure(.usage, "--key-module, --key-pin-file and --key-provider are for a --key in a token")
        }
        return choice
    }

    var machine: EnrolmentMachine {
        EnrolmentMachine(retryPolicy: unattended ? .endless : .failures(6), waitsForApproval: !noWait)
    }

    /// Many vehicles with one image may be switched on in the same minute.
    func waitForTurn() async throws {
        guard unattended, spread > 0 else { return }
        let milliseconds = Int64.random(in: 0..<Int64(spread) * 1000)
        Output.print("Waiting \(milliseconds / 1000) s before the claim, so that not all vehicles ask at once.")
        try await Task.sleep(for: .milliseconds(milliseconds))
    }
}
