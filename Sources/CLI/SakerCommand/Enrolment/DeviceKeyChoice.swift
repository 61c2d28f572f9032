import ConfigurationFile
import Glibc
import SecureLink
import Terminal

/// Where the key of a device is: in a file of root's, in the TPM, or in a token.
struct DeviceKeyChoice: Hashable {
    enum Place: Hashable {
        case file
        case tpm
        /// An OpenSSL store URI of a key that is there already.
        case store(String)

        /// Below the directory of the vehicle, of a key that is in a file.
        var fileName: String {
            self == .tpm ? DeviceKeyChoice.tpmFileName : "\(VehicleDirectory.credentials)/\(DeviceKeyChoice.fileName)"
        }
    }

    let place: Place
    /// Another key than the one in use.
    var isNew = false
    var module: String?
    var provider: String?
    /// Nil: the PIN in the place where systemd takes it from, if there is one.
    var pinFile: String?

    /// systemd hands it to the agent under this name. Only root reads it, also while the agent runs as another user.
    static let fileName = "device-key"
    static let tpmFileName = "device-key.tpm"
    /// Of a key that has no certificate yet, while another one is in use.
    static let nextSuffix = ".next"
    private static let pinName = "credentials/token-pin"
    /// The agent's note is in its state directory, which is not there before its first start.
    private static let refusedPINs = "credentials/refused-pin"

    /// `file`, `tpm`, or a URI such as `pkcs11:token=box;object=key;type=private`.
    init(parsing text: String) throws(CommandFailure) {
        switch text {
        case "file": place = .file
        case "tpm": place = .tpm
        default:
            guard case .store(let uri) = TLSClientOptions.PrivateKey(parsing: text), !uri.hasPrefix("file:") else {
                throw CommandFailure(
                    .usage, "--key \(text.printable): give file, tpm, or the address of a key in a token (pkcs11:…)")
            }
            let attributes = uri.split { ";?&:".contains($0) }.map { $0.prefix { $0 != "=" }.lowercased() }
            guard !attributes.contains(where: { ["pin-value", "pin", "password"].contains($0) }) else {
                throw CommandFailure(
                    .usage,
                    "--key holds a PIN, and other users see arguments: put it into a file and give --key-pin-file")
            }
            place = .store(uri)
        }
    }

    /// Opens the key, or makes it when there is none. A key that was made is on the disk before it is used, so a claim
    /// that breaks is claimed again by the same key.
    ///
    /// Another key than the one in use stands beside that one until ``settle(in:)``, so a claim that is refused leaves a
    /// vehicle that works.
    func open(in directory: VehicleDirectory) throws(CommandFailure) -> DeviceKey {
        do throws(SecureLinkError) {
            if case .store(let uri) = place {
                // An unattended enrolment tries again at each boot, and a token locks after a few wrong PINs.
                return try DeviceKey.open(
                    .store(uri: uri), store: store(in: directory), refusedPINs: directory.path(Self.refusedPINs))
            }
            let name = place.fileName
            let next = name + Self.nextSuffix
            // Without a key in use, the new one of an enrolment that was interrupted is as good.
            let file = isNew || !directory.has(name) && directory.has(next) ? next : name
            if directory.has(file) { return try openFile(directory.path(file)) }
            let key = place == .tpm ? try DeviceKey.makeInTPM() : try DeviceKey.make()
            try keep(try key.pem(), file, in: directory)
            // What was written is what the agent will open, and a key of the TPM's signs only when it was opened.
            return try openFile(directory.path(file))
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
    }

    /// Whether the key for which a certificate was issued stands beside the one in use.
    func isBesideFormer(in directory: VehicleDirectory) -> Bool {
        if case .store = place { return false }
        return (isNew || !directory.has(place.fileName)) && directory.has(place.fileName + Self.nextSuffix)
    }

    /// The key for which the certificate was issued takes the place of the former one.
    func settle(in directory: VehicleDirectory) throws(CommandFailure) {
        guard isBesideFormer(in: directory) else { return }
        try directory.move(place.fileName + Self.nextSuffix, to: place.fileName)
    }

    private func openFile(_ path: String) throws(SecureLinkError) -> DeviceKey {
        place == .tpm
            ? try DeviceKey.open(.store(uri: "file:" + path), store: .init(opener: .provider("tpm2")))
            : try DeviceKey.open(.file(path))
    }

    private func keep(_ pem: [UInt8], _ name: String, in directory: VehicleDirectory) throws(SecureLinkError) {
        // Only this TPM can use the file of a key in it. The agent reads it itself, as its group.
        let isForGroup = place == .tpm
        do throws(CommandFailure) {
            _ = try directory.write([
                VehicleDirectory.File(
                    name: name, text: String(decoding: pem, as: UTF8.self), mode: isForGroup ? 0o640 : 0o600,
                    isForGroup: isForGroup, replaces: false)
            ])
        } catch {
            throw SecureLinkError(.configuration, error.description)
        }
    }

    private func store(in directory: VehicleDirectory) -> TLSClientOptions.KeyStore {
        let standard = directory.has(Self.pinName) ? directory.path(Self.pinName) : nil
        return .init(
            opener: provider.map { .init(parsing: $0) } ?? .automatic, module: module, pinFile: pinFile ?? standard)
    }

    /// Lines of `[server]` in agent.toml.
    func lines(in directory: VehicleDirectory) -> [String] {
        var lines: [String] = []
        switch place {
        case .file:
            let name = directory.isSystemWide ? Self.fileName : "\(VehicleDirectory.credentials)/\(Self.fileName)"
            if directory.isSystemWide {
                lines.append(
                    "# The key is the credential \"\(Self.fileName)\" of sakerd.service: \(directory.path)/credentials/\(name)"
                )
            }
            lines.append("client_key = \(TOMLText.quoted(name))")
        case .tpm:
            lines.append("client_key = \(TOMLText.quoted("file:" + directory.path(Self.tpmFileName)))")
            lines.append("client_key_provider = \"tpm2\"")
        case .store(let uri):
            lines.append("client_key = \(TOMLText.quoted(uri))")
            if let module { lines.append("client_key_module = \(TOMLText.quoted(module))") }
            if let provider { lines.append("client_key_provider = \(TOMLText.quoted(provider))") }
            if let pinFile {
                lines.append("client_key_pin_file = \(TOMLText.quoted(pinFile))")
            } else if directory.has(Self.pinName), !directory.isSystemWide {
                lines.append("client_key_pin_file = \(TOMLText.quoted(Self.pinName))")
            }
        }
        return lines
    }
}
