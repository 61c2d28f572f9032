import ArgumentParser
import ConfigurationFile
import Glibc
import SecureLink

/// `saker renew`
struct RenewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Gets the next certificate of this vehicle, when two thirds of the present one's time are over.",
        discussion: """
            saker-renew.timer runs this command once an hour. The vehicle's key stays the same. A certificate that has
            ended is renewed too, for 90 days. The agent takes the new certificate by itself.

            Exit codes: 0 renewed, or nothing to do; 1 refused or failed; 3 the server cannot be reached.
            """)

    @Option(name: .long, help: ArgumentHelp("The agent's configuration.", valueName: "path"))
    var config = VehicleDirectory.system + "/" + DeviceFiles.configuration

    @Flag(name: .long, help: "Ask also when it is too early.")
    var force = false

    @Flag(name: .long, help: "Say nothing when there is nothing to do.")
    var quiet = false

    func run() async throws {
        guard let vehicle = try VehicleIdentity(configuration: config) else {
            return say("This vehicle has no certificate of its own: \(config.printable) names none.")
        }
        let plan: RenewalPlan
        do throws(SecureLinkError) {
            plan = RenewalPlan(try CertificateFile(path: vehicle.certificateFile).leaf)
        } catch {
            throw CommandFailure(.failed, error.detail)
        }
        let state = plan.state(at: TimeText.now / 1000)
        if case .early(let due) = state, !force {
            return say(
                "The certificate lasts until \(Self.date(plan.until)). It is renewed from \(Self.date(due)) on.")
        }
        guard let address = vehicle.webAddress else {
            let found = vehicle.strangeWebAddress.map { "'\($0.printable)' is no address for renewals" }
            throw CommandFailure(
                .failed,
                "\(found ?? "the server's HTTPS address is not known"): write web_address = \"https://…\" into [server] of "
                    + config.printable)
        }
        let key = try Self.key(of: vehicle)
        let client = try EnrolmentClient(address, trusting: vehicle.trust(for: address))
        let body = EnrolmentRequest(
            certificateRequest: try Self.request(key, vehicle.entity), machine: try MachineIdentity().mark)
        let machine = EnrolmentMachine(patience: .failures(6), waitsForApproval: false)
        let identity: IssuedIdentity
        do {
            identity = try await client.run(.renew, body.encoded, key: key.publicKey, machine)
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.code, failure.description + Self.advice(state))
        }
        try keep(identity, vehicle)
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
            until = Self.date(try CertificateFile(path: vehicle.certificateFile).leaf.until)
        } catch let error as ConfigurationError {
            throw CommandFailure(.failed, error.detail + Self.asRoot)
        }
        Console.print("The certificate is renewed. It lasts until \(until).")
        if let entity = vehicle.entity, entity != identity.entity {
            Console.print(
                "The server says that this vehicle is \(identity.entity.printable) now, and its agent says \(entity.printable): "
                    + "saker service stop, then saker service start --entity \(identity.entity.printable)")
        }
    }

    /// Whether two paths lead to the same file: either may be relative, or lead through a link.
    private static func areOne(_ path: String, _ other: String) -> Bool {
        guard let file = FileStatus(of: path), let its = FileStatus(of: other) else { return path == other }
        return (file.device, file.inode) == (its.device, its.inode)
    }

    private func say(_ text: String) {
        if !quiet { Console.print(text) }
    }

    private static func date(_ seconds: Int64) -> String {
        TimeText.local(seconds.multipliedReportingOverflow(by: 1000).partialValue)
    }

    private static func advice(_ state: RenewalPlan.State) -> String {
        guard case .ended(let days) = state else { return "" }
        return days <= RenewalPlan.graceDays
            ? ". The certificate ended \(days) days ago; it can be renewed for \(RenewalPlan.graceDays) days"
            : ". The certificate ended \(days) days ago, which is too long: forget the device on the server, and enrol again"
    }
}
