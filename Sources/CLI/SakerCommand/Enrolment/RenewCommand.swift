import ArgumentParser
import ConfigurationFile
import Glibc
import SecureLink
import Terminal

/// `saker renew`
struct RenewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Gets the next certificate of this vehicle, when two thirds of the present one's time are over.",
        discussion: """
            saker-renew.timer runs this command once an hour. The vehicle's key stays the same. A certificate that has
            ended is renewed too, for 90 days. A certificate of another key is replaced at once: an enrolment leaves it when
            it is cut before its end. The agent takes the new certificate by itself.

            Exit codes: 0 renewed, or nothing to do; 1 refused or failed; 3 the server cannot be reached.
            """)

    @Option(name: .long, help: ArgumentHelp("The agent's configuration.", valueName: "path"))
    var config = VehicleDirectory.system + "/" + DeviceFiles.configuration

    @Flag(name: .long, help: "Ask also when it is too early.")
    var force = false

    @Flag(name: .long, help: "Say nothing when there is nothing to do.")
    var quiet = false

    func run() async throws {
        try settle()
        guard try dueVehicle() != nil else { return }
        // Two at once would mix two identities: an enrolment that ends meanwhile would get the certificate of the former key.
        guard let lock = try EnrolmentLock(VehicleDirectory(of: config)) else {
            return Output.print("An enrolment of this vehicle is under way. Nothing was renewed.")
        }
        defer { lock.release() }
        // An enrolment may have ended between the look and the lock.
        guard let (vehicle, state, isForeign) = try dueVehicle() else { return }
        guard let address = vehicle.webAddress else {
            let found = vehicle.strangeWebAddress.map { "'\($0.printable)' is no address for renewals" }
            throw CommandFailure(
                .failed,
                "\(found ?? "the server's HTTPS address is not known"): write web_address = \"https://…\" into [server] of "
                    + config.printable)
        }
        let key = try Self.key(of: vehicle)
        if isForeign {
            Output.print(
                "\(vehicle.certificateFile.printable) is not the certificate of this vehicle's key: an enrolment was cut before its "
                    + "end. Asking the server for the key's certificate.")
        }
        let client = try EnrolmentClient(address, trusting: vehicle.trust(for: address))
        let mark = try MachineIdentity().mark
        let machine = EnrolmentMachine(retryPolicy: .failures(6), waitsForApproval: false)
        let identity: IssuedIdentity
        do {
            identity = try await client.renew(key: key.publicKey, machine) { nonce throws(CommandFailure) in
                let name = nonce.map { "renew:\($0)" } ?? vehicle.entity
                return EnrolmentRequest(
                    certificateRequest: try Self.request(key, name), machine: mark, nonce: nonce
                ).encoded
            }
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.code, failure.description + Self.advice(state))
        }
        try refuseOtherFiles(vehicle, key.publicKey)
        try keep(identity, vehicle)
    }

    /// An enrolment was cut when its key was in place and its certificate was not. The certificate stands beside it.
    private func settle() throws {
        guard try VehicleIdentity(configuration: config)?.nextCertificate != nil,
            let lock = try EnrolmentLock(VehicleDirectory(of: config))
        else { return }
        defer { lock.release() }
        guard let vehicle = try VehicleIdentity(configuration: config), vehicle.nextCertificate != nil else { return }
        do throws(ConfigurationError) {
            try AtomicFile.move(CertificateFiles.next(of: vehicle.certificateFile), to: vehicle.certificateFile)
        } catch {
            throw CommandFailure(.failed, error.detail + Self.asRoot)
        }
        Output.print(
            "\(vehicle.certificateFile.printable): the certificate of this vehicle's key is in place now. "
                + "An enrolment was cut before its end.")
    }

    /// The vehicle and why its certificate is due; nil when there is nothing to do, which it says.
    ///
    /// The last value: it is the certificate of another key.
    private func dueVehicle() throws(CommandFailure) -> (VehicleIdentity, RenewalPlan.State, Bool)? {
        guard let vehicle = try VehicleIdentity(configuration: config) else {
            say("This vehicle has no certificate of its own: \(config.printable) names none.")
            return nil
        }
        let certificate: CertificateFile
        do throws(SecureLinkError) {
            certificate = try vehicle.certificate()
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
        let plan = RenewalPlan(certificate.leaf)
        let state = plan.state(at: LocalTime.now / 1000)
        let isForeign = vehicle.hasForeign(certificate)
        guard case .early(let due) = state, !force, !isForeign else { return (vehicle, state, isForeign) }
        say("The certificate lasts until \(Self.date(plan.until)). It is renewed from \(Self.date(due)) on.")
        return nil
    }

    /// A person may have put other files in place while the server was asked: a certificate of the former key would end
    /// what works.
    private func refuseOtherFiles(_ vehicle: VehicleIdentity, _ key: PublicKeyPin?) throws(CommandFailure) {
        let now = try VehicleIdentity(configuration: config)
        guard let now, now.certificateFile == vehicle.certificateFile, now.key == vehicle.key,
            now.fileKey == nil || now.fileKey == key
        else {
            throw CommandFailure(
                .failed,
                "the key of this vehicle was replaced while the server was asked. Nothing was written; the next renewal is for the "
                    + "new key")
        }
    }

    private static func key(of vehicle: VehicleIdentity) throws(CommandFailure) -> DeviceKey {
        do throws(SecureLinkError) {
            return try DeviceKey.open(vehicle.key, store: vehicle.store, refusedPINs: vehicle.refusedPINs)
        } catch {
            throw CommandFailure(.failed, error.detail + asRoot)
        }
    }

    private static func request(_ key: borrowing DeviceKey, _ entity: String?) throws(CommandFailure) -> String {
        do throws(SecureLinkError) {
            return try key.certificateRequest(name: entity ?? "saker")
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
    }

    private static var asRoot: String { geteuid() == 0 ? "" : " (as root? sudo saker renew)" }

    /// The authority first: with the new certificate and the old authority the vehicle could not log in.
    private func keep(_ identity: IssuedIdentity, _ vehicle: VehicleIdentity) throws {
        let directory = VehicleDirectory(of: config)
        var until = "a time that cannot be read"
        do {
            let own = directory.path(DeviceFiles.authority)
            if let authority = identity.authority, let trusted = vehicle.authorityFile, Self.areOne(trusted, own) {
                try AtomicFile.write(Array(authority.utf8), to: own, mode: 0o644)
            }
            try AtomicFile.write(Array(identity.certificate.utf8), to: vehicle.certificateFile, mode: 0o644)
            try? AtomicFile.remove(CertificateFiles.next(of: vehicle.certificateFile))
            until = Self.date(try CertificateFile(path: vehicle.certificateFile).leaf.until)
        } catch let error as ConfigurationError {
            throw CommandFailure(.failed, error.detail + Self.asRoot)
        }
        // The agent itself takes the name of a device that was moved: agent.toml keeps the former one.
        Output.print("The certificate is renewed. It lasts until \(until).")
    }

    /// Whether two paths lead to the same file: either may be relative, or lead through a link.
    private static func areOne(_ path: String, _ other: String) -> Bool {
        guard let file = FileStatus(of: path), let its = FileStatus(of: other) else { return path == other }
        return (file.device, file.inode) == (its.device, its.inode)
    }

    private func say(_ text: String) {
        if !quiet { Output.print(text) }
    }

    private static func date(_ seconds: Int64) -> String {
        LocalTime.text(seconds.multipliedReportingOverflow(by: 1000).partialValue)
    }

    private static func advice(_ state: RenewalPlan.State) -> String {
        guard case .ended(let days) = state else { return "" }
        return days <= RenewalPlan.graceDays
            ? ". The certificate ended \(days) days ago; it can be renewed for \(RenewalPlan.graceDays) days"
            : ". The certificate ended \(days) days ago, which is too long: forget the device on the server, and enrol again"
    }
}
