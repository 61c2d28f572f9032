import ArgumentParser
import JSON
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

extension Devices {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "List the devices, pending ones first, and the keys with which a vehicle logs in without being one.",
            discussion: """
                HEARD is when the server heard from the vehicle last. A vehicle is online while it has a session with this server.

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
        @OptionGroup var table: TableOptions

        func validate() throws {
            guard !trouble || state == nil && token == nil else {
                throw ValidationError("--trouble goes with neither --state nor --token")
            }
            guard (1...525_600).contains(silentAfter) else {
                throw ValidationError("--silent-after \(silentAfter): give 1 ... 525600 minutes")
            }
        }

        func run() async throws {
            let configuration = try file.load()
            let administration = try await ServiceAdministration(configuration)
            if trouble {
                let fleet = try await administration.fleetHealth(of: service, silentAfter: silentAfter * 60)
                return json ? fleet.troubled.forEach { Output.print(json: $0.json.description) } : list(fleet)
            }
            let found = try await administration.devices(of: service, in: try wantedState(), token: token)
            let devices = found.filter { $0.state == .pending } + found.filter { $0.state != .pending }
            let presences = try await administration.presences(of: service, configuration)
            let lines = devices.map { Line(device: $0, presence: presences[$0]) }
            if json {
                Output.print(json: Self.json(lines).description)
                return
            }
            for line in Self.lines(lines, width: table.width, at: ServiceAdministration.now) { Output.print(line) }
            func tell(_ sentence: String) {
                Output.print("")
                for line in TextFold.lines(sentence, width: TerminalSize.columns) { Output.print(line) }
            }
            if let first = devices.first(where: { $0.state == .pending }) {
                tell("To let a pending device in: saker-server device approve \("\(first.id)".prefix(8))")
            }
            if let first = devices.first(where: { $0.cloned != nil }) {
                tell(
                    "Two computers have the certificate of \(first.entity), or seem to; where it is proven, neither may log in. See: "
                        + "saker-server device show \("\(first.id)".prefix(8))")
            }
            for sentence in try await administration.legacyWarnings() { tell(sentence) }
        }

        private struct Line {
            let device: DeviceRecord
            let presence: Presence
        }

        /// The eight digits that a person types, where the whole number has no room.
        private static func number(_ id: DeviceID, _ width: Int?) -> String {
            width == nil ? "\(id)" : String("\(id)".prefix(8))
        }

        private static func ago(_ time: Timestamp?, _ now: Timestamp) -> String {
            time.map { DurationText.relative($0.milliseconds, now: now.milliseconds) } ?? "never"
        }

        private static func lines(_ lines: [Line], width: Int?, at now: Timestamp) -> [String] {
            var table = TextTable([
                "DEVICE", .text("ENTITY"), "STATE", "LINK", "HEARD", .number("SERVICE", rank: 2),
                TextTable.Column("CERTIFICATE UNTIL", rank: 1), TextTable.Column("LAST LOGIN", rank: 4),
                .text("NAME", rank: 3),
            ])
            for line in lines {
                let device = line.device
                table.add(
                    number(device.id, width), device.entity, name(of: device.state),
                    line.presence.isOnline ? "online" : "offline", ago(line.presence.heard, now),
                    "\(device.service.rawValue)",
                    device.state == .pending ? "-" : TimeText.universal(device.certificateEnd),
                    device.sighting.map { TimeText.universal($0.time) } ?? "never", device.name)
            }
            return table.lines(width: width)
        }

        private func list(_ fleet: FleetHealth) {
            guard !fleet.troubled.isEmpty else {
                let count = fleet.rows.count
                return Output.print("No trouble is known of \(count) vehicle\(count == 1 ? "" : "s")")
            }
            let now = ServiceAdministration.now
            var rows = TextTable([
                .text("ENTITY"), .number("SERVICE", rank: 2), TextTable.Column("DEVICE", rank: 1), "HEARD",
                .text("TROUBLE"),
            ])
            for row in fleet.troubled {
                let vehicle = row.vehicle
                rows.add(
                    vehicle.entity.name, "\(vehicle.entity.service.rawValue)",
                    vehicle.device.map { "\("\($0)".prefix(8))" } ?? "key", Self.ago(vehicle.heard, now),
                    row.troubles.map { "\($0)" }.joined(separator: "; "))
            }
            for line in rows.lines(width: table.width) { Output.print(line) }
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

        private static func json(_ lines: [Line]) -> String {
            var writer = JSONWriter()
            writer.array { list in
                for line in lines {
                    let device = line.device
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
                        object.name("online")
                        object.bool(line.presence.isOnline)
                        if let heard = line.presence.heard { object.member("heard", TimeText.universal(heard)) }
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
