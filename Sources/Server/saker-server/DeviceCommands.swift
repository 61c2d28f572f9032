import ArgumentParser
import ConfigurationFile
import Glibc
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

/// Vehicles with keys of their own.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Vehicles with certificates of their own. Works while the server runs.",
        discussion: """
            A device is named by the first digits of its number, at least four, or by its entity.
            """,
        subcommands: [
            Add.self, List.self, Show.self, Rename.self, Move.self, Revoke.self, Approve.self, Forget.self,
            MakeAuthority.self,
        ])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a device, and print its certificate.",
            discussion: """
                Reads a certificate request (PKCS #10, PEM) from standard input. The private key stays on the vehicle. The \
                certificate is for client_certificate in the vehicle's agent.toml, which then needs no access key.

                Example:
                openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=van -keyout van.key -out van.csr
                saker-server device add 1 van_07 < van.csr > van.pem
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(help: "The entity that the vehicle is.")
        var entity: String
        @Option(help: ArgumentHelp("A name for people, such as a plate.", valueName: "name"))
        var name = ""

        func run() async throws {
            let configuration = try file.load()
            var request = ""
            while request.utf8.count <= 65_536, let line = readLine(strippingNewline: false) { request += line }
            let (device, certificate) = try await ServiceAdministration(configuration)
                .addDevice(to: service, as: entity, named: name, request: request, configuration)
            Output.print(text: certificate)
            Output.complain(
                "Device \(device.id) is \(device.entity) of service \(service), until \(TimeText.universal(device.certificateEnd))"
            )
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show all that is known of one device.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number or the entity of the device.")
        var device: String

        func run() async throws {
            let device = try await ServiceAdministration(try file.load()).device(device)
            let key = device.keyHash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            var rows = [
                ("Device", "\(device.id)"), ("Name", device.name), ("Service", "\(device.service.rawValue)"),
                ("Entity", device.entity), ("Was before", device.formerEntities.joined(separator: ", ")),
                ("State", List.name(of: device.state)), ("Made", TimeText.universal(device.created)),
                ("Certificate until", device.state == .pending ? "" : TimeText.universal(device.certificateEnd)),
                ("Certificate made", device.issued.map(TimeText.universal) ?? ""), ("SHA-256 of key", key),
            ]
            if let claim = device.claim {
                rows += [
                    ("Token", "\(claim.token)"), ("Serial number", claim.serial ?? ""), ("Model", claim.model),
                    ("Claimed from", claim.address),
                ]
            }
            if let seen = device.sighting {
                rows += [
                    ("Last login", TimeText.universal(seen.time)), ("From", seen.address), ("Agent", seen.agentVersion),
                ]
            }
            if let cloned = device.cloned {
                rows.append(
                    ("Two computers", "noticed at \(TimeText.universal(cloned)): one is a copy of the other's disk"))
            }
            var table = TextTable.pairs
            for (name, value) in rows where !value.isEmpty { table.add(name, value) }
            for line in table.lines(width: TerminalSize.columns) { Output.print(line) }
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a device another name for people. What it is to the server stays.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number or the entity of the device.")
        var device: String
        @Argument(help: "The new name, such as a plate.")
        var name: String

        func run() async throws {
            let changed = try await ServiceAdministration(try file.load()).renameDevice(device, to: name)
            Output.print("Device \(changed.id) has the name \"\(changed.name)\"")
        }
    }

    struct Move: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a device another entity of its service, for example in another truck.",
            discussion: """
                The certificate stays. An open session ends within a second, and the agent takes the new entity by itself at \
                its next login: there is nothing to do on the vehicle. Points that the vehicle gathered as the entity before \
                are still taken.
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number or the entity of the device.")
        var device: String
        @Argument(help: "The entity that the device is from now on.")
        var entity: String

        func run() async throws {
            let changed = try await ServiceAdministration(try file.load()).moveDevice(device, to: entity)
            Output.print("Device \(changed.id) is \(changed.entity)")
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shut out a device. The others go on.",
            discussion: """
                Its session ends within a second, and its logins are refused. The vehicle keeps its points, says so in saker \
                status, and tries again once an hour. `saker-server device approve` lets it in again.
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number or the entity of the device.")
        var device: String?
        @Option(
            help: ArgumentHelp(
                "Shut out every device that was enrolled with the token of this number.", valueName: "number"))
        var token: Int64?

        func validate() throws {
            guard (device == nil) != (token == nil) else {
                throw ValidationError("give a device, or --token with the number of a token")
            }
        }

        func run() async throws {
            let administration = try await ServiceAdministration(try file.load())
            func tell(_ device: DeviceRecord) { Output.print("Device \(device.id) (\(device.entity)) is revoked") }
            if let device { return tell(try await administration.revokeDevice(device)) }
            guard let token else { return }
            var revoked = 0
            try await administration.revokeDevices(ofToken: token) { device in
                revoked += 1
                tell(device)
            }
            if revoked == 0 { Output.print("No device of the token may log in") }
        }
    }

    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a device in that waits for approval, that was revoked, or of which there were two copies.",
            discussion: """
                A vehicle that waits asks again within a minute, and gets its certificate then. To turn it away for good: \
                saker-server device revoke. When two computers were refused because one is a copy of the other's disk, first switch \
                the copy off or enrol it anew: while both run, both are refused again.
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number or the entity of the device.")
        var device: String

        func run() async throws {
            let changed = try await ServiceAdministration(try file.load()).approveDevice(device)
            Output.print("Device \(changed.id) (\(changed.entity)) may log in")
        }
    }

    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a device for good. Its certificate opens nothing any more; its tracks stay.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number or the entity of the device.")
        var device: String

        func run() async throws {
            let gone = try await ServiceAdministration(try file.load()).forgetDevice(device)
            Output.print("Device \(gone.id) (\(gone.entity)) is forgotten")
        }
    }

    struct MakeAuthority: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "authority",
            abstract: "Make the authority that signs certificates of devices, for a server that was made without one.")

        @OptionGroup var file: ConfigurationOption

        func run() async throws {
            let made = try DeviceAuthority.add(to: try file.load(for: .certificates))
            Output.print("Made \(made.path) and its key.")
            Output.print("Write into [device] of the configuration, then restart the server:")
            Output.print(made.line)
        }
    }
}
