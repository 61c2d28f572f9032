import ArgumentParser
import JSON
import ServerRuntime
import TrackModel
import TrackStore

extension Devices {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "List the devices, pending ones first, and the keys with which a vehicle logs in without being one.",
            discussion: """
                With --trouble: the vehicles that need somebody, the worst first, one line each. Vehicles that log in with an \
                access key are among them. A vehicle that said goodbye is never silent.
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service; default: all services.")
        var service: Int64?
        @Option(help: ArgumentHelp("Only devices in this state: pending, approved or revoked.", valueName: "state"))
        var state: String?
        @Option(
            help: ArgumentHelp("Only devices that were enrolled with the token of this number.", valueName: "number"))
        var token: Int64?
        @Flag(help: "Only vehicles that lose points or may soon, with the reason.")
        var trouble = false
        @Option(
            help: ArgumentHelp(
                "With --trouble: a vehicle is silent after so many minutes, 1 ... 525600.", valueName: "minutes"))
        var silentAfter: Int64 = 1440
        @Flag(
            help:
                "Print JSON: one array of objects; with --trouble one object a line, times in milliseconds since 1970.")
        var json = false

        func validate() throws {
            guard !trouble || state == nil && token == nil else {
                throw ValidationError("--trouble goes with neither --state nor --token")
            }
            guard (1...525_600).contains(silentAfter) else {
                throw ValidationError("--silent-after \(silentAfter): give 1 ... 525600 minutes")
            }
        }

        func run() async throws {
            let administration = try await ServiceAdministration(try file.load())
            if trouble {
                let fleet = try await administration.fleetHealth(of: service, silentAfter: silentAfter * 60)
                return json ? fleet.troubled.forEach { print($0.json) } : list(fleet)
            }
            let found = try await administration.devices(of: service, in: try wantedState(), token: token)
            let devices = found.filter { $0.state == .pending } + found.filter { $0.state != .pending }
            if json {
                print(Self.json(devices))
                return
            }
            print(
                padded("DEVICE", to: 38) + padded("SERVICE", to: 9) + padded("STATE", to: 10) + padded("SEEN", to: 22)
                    + padded("CERTIFICATE UNTIL", to: 22) + padded("ENTITY", to: 24) + "NAME")
            for device in devices {
                print(
                    padded("\(device.id)", to: 38) + padded("\(device.service.rawValue)", to: 9)
                        + padded(Self.name(of: device.state), to: 10)
                        + padded(device.sighting.map { TimeText.universal($0.time) } ?? "never", to: 22)
                        + padded(device.state == .pending ? "-" : TimeText.universal(device.certificateEnd), to: 22)
                        + padded(device.entity, to: 24) + device.name)
            }
            if let first = devices.first(where: { $0.state == .pending }) {
                print("\nTo let a pending device in: saker-server device approve \("\(first.id)".prefix(8))")
            }
            if let first = devices.first(where: { $0.cloned != nil }) {
                print(
                    "\nTwo computers have the certificate of \(first.entity), so neither may log in. See: saker-server device show "
                        + "\("\(first.id)".prefix(8))")
            }
            for sentence in try await administration.legacyWarnings() { print("\n\(sentence)") }
        }

        private func list(_ fleet: FleetHealth) {
            guard !fleet.troubled.isEmpty else {
                let count = fleet.rows.count
                return print("No trouble is known of \(count) vehicle\(count == 1 ? "" : "s")")
            }
            print(
                padded("ENTITY", to: 24) + padded("SERVICE", to: 9) + padded("DEVICE", to: 10) + padded("HEARD", to: 22)
                    + "TROUBLE")
            for row in fleet.troubled {
                let vehicle = row.vehicle
                print(
                    padded(vehicle.entity.name, to: 24) + padded("\(vehicle.entity.service.rawValue)", to: 9)
                        + padded(vehicle.device.map { "\("\($0)".prefix(8))" } ?? "key", to: 10)
                        + padded(TimeText.universal(vehicle.heard), to: 22)
                        + row.troubles.map { "\($0)" }.joined(separator: "; "))
            }
        }

        static func name(of state: DeviceRecord.State) -> String {
            switch state {
            case .active: "approved"
            case .revoked: "revoked"
            case .pending: "pending"
            }
        }

        private func wantedState() throws(ServerError) -> DeviceRecord.State? {
            guard let state else { return nil }
            guard let known = DeviceRecord.State.allCases.first(where: { Self.name(of: $0) == state }) else {
                throw ServerError(.usage, "--state \(state) is none of pending, approved and revoked")
            }
            return known
        }

        private static func json(_ devices: [DeviceRecord]) -> String {
            var writer = JSONWriter()
            writer.array { list in
                for device in devices {
                    list.object { object in
                        object.member("device", "\(device.id)")
                        object.member("service", device.service.rawValue)
                        object.member("state", name(of: device.state))
                        object.member("entity", device.entity)
                        object.member("name", device.name)
                        object.member("created", TimeText.universal(device.created))
                        if device.state != .pending {
                            object.member("certificate_until", TimeText.universal(device.certificateEnd))
                        }
                        if let seen = device.sighting {
                            object.member("seen", TimeText.universal(seen.time))
                            object.member("address", seen.address)
                            object.member("version", seen.agentVersion)
                        }
                        if let cloned = device.cloned { object.member("cloned", TimeText.universal(cloned)) }
                        if let claim = device.claim {
                            object.member("token", claim.token)
                            if let serial = claim.serial { object.member("serial", serial) }
                            if !claim.model.isEmpty { object.member("model", claim.model) }
                            object.member("claimed_from", claim.address)
                        }
                    }
                }
            }
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }
}
