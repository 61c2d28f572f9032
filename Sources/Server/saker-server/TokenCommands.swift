import ArgumentParser
import ConfigurationFile
import JSON
import ServerRuntime
import Terminal
import TrackModel
import TrackStore

/// Enrolment tokens.
struct Tokens: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Tokens with which vehicles get certificates of their own. Works while the server runs.",
        discussion: """
            A token can claim an identity for a vehicle, and opens nothing else. The vehicle makes its key itself.
            """,
        subcommands: [Create.self, List.self, Revoke.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token, and print the line for `saker enroll`.",
            discussion: """
                --name says what the vehicles are called: {entity} is what the vehicle wishes (saker enroll --entity), \
                {serial} its serial number, and {number} counts up. --approve says who decides: auto (whoever has the token), \
                ask (you, for each vehicle, with saker-server device approve), or list=FILE (the serial numbers in the first \
                column of a CSV file, each once).

                A vehicle that wants to be an entity with a past (its track, or a vehicle that logs in with an access key) waits for \
                saker-server device approve, because whoever has the token would read the track. --take-over lets it in: for vehicles \
                of today that get certificates of their own. Give such a token few uses and an early end.

                Examples:
                saker-server token create 1
                saker-server token create 1 --uses 10000 --until 2027-03-01 --name 'truck-{serial}' --approve ask --qr
                """)

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the service.")
        var service: Int64
        @Option(help: ArgumentHelp("How many vehicles the token is for.", valueName: "number"))
        var uses = 1
        @Option(
            help: ArgumentHelp(
                "The token ends at the begin of this day (UTC), as in 2027-03-01, or at this time, as in "
                    + "2027-03-01T12:00:00Z. Default: after 90 days.", valueName: "time"))
        var until: String?
        @Option(help: ArgumentHelp("The names of the vehicles.", valueName: "pattern"))
        var name = "{entity}"
        @Option(help: ArgumentHelp("Who decides: auto, ask, or list=FILE.", valueName: "who"))
        var approve = "auto"
        @Flag(help: "Also let vehicles in, without approval, that take over an entity with a past.")
        var takeOver = false
        @Option(help: ArgumentHelp("A note for people.", valueName: "text"))
        var note = ""
        @Flag(help: "Draw the line as a QR code too. Needs the program qrencode.")
        var qr = false

        func run() async throws {
            let wish = try wish()
            if qr { try QRCode.checkProgram() }
            let configuration = try file.load()
            let (token, line) = try await ServiceAdministration(configuration)
                .createToken(for: service, wish, configuration)
            printToken(token, line)
            if qr { try QRCode.draw(line.encoded) }
        }

        private func wish() throws -> ServiceAdministration.TokenOptions {
            var wish = ServiceAdministration.TokenOptions()
            wish.uses = uses
            wish.note = note
            wish.takesPast = takeOver
            do throws(NamePatternError) {
                wish.pattern = try NamePattern(name)
            } catch {
                throw ServerError(.usage, "--name: \(error)")
            }
            if let until {
                guard let end = TimeText.time(until) else {
                    throw ServerError(
                        .usage, "--until \(until) is no time: write it as 2027-03-01 or 2027-03-01T12:00:00Z")
                }
                wish.end = end
            } else {
                wish.end = ServiceAdministration.TokenOptions.usualEnd
            }
            switch approve {
            case "auto": wish.approval = .automatic
            case "ask": wish.approval = .asked
            case _ where approve.hasPrefix("list="):
                wish.approval = .listed(try SerialList.read(String(approve.dropFirst("list=".count))))
            default: throw ServerError(.usage, "--approve \(approve) is none of auto, ask and list=FILE")
            }
            return wish
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the tokens: what they may do, and how often they were used.")

        @OptionGroup var file: ConfigurationOption
        @OptionGroup var options: ListOptions
        @Argument(help: "The number of the service; default: all services.")
        var service: Int64?

        func run() async throws {
            let now = ServiceAdministration.now
            let tokens = try await ServiceAdministration(try file.load()).tokens(of: service)
            Listing<TokenRecord>([
                .init(.number("TOKEN"), "token", { "\($0.number)" }, value: { .integer($0.number) }),
                .init(
                    .number("SERVICE", rank: 2), "service", { "\($0.service.rawValue)" },
                    value: { .integer($0.service.rawValue) }),
                .init("STATE", "state", { Self.state($0, now) }),
                .init("USED", "used", { "\($0.used) of \($0.uses)" }, value: { .integer(Int64($0.used)) }),
                .init(key: "uses") { .integer(Int64($0.uses)) },
                .init(
                    "UNTIL", "until", { $0.end.map(TimeText.universal) ?? "-" },
                    value: { $0.end.map { .string(TimeText.universal($0)) } }),
                .init(TextTable.Column("APPROVE", rank: 1), "approve", Self.approval),
                .init(.text("NAME"), "name", \.pattern.description),
                .init(.text("NOTE", rank: 3), "note", \.note),
            ]).show(tokens, options)
        }

        private static func state(_ token: TokenRecord, _ now: Timestamp) -> String {
            if token.revoked != nil { return "revoked" }
            if let end = token.end, now >= end { return "ended" }
            return token.used < token.uses ? "valid" : "used up"
        }

        private static func approval(_ token: TokenRecord) -> String {
            switch token.approval {
            case .automatic: "auto"
            case .asked: "ask"
            case .listed: "list"
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a token. The vehicles that were enrolled with it go on, unless --with-devices is given.",
            discussion: "`saker-server device list --token NUMBER` shows the vehicles of a token.")

        @OptionGroup var file: ConfigurationOption
        @Argument(help: "The number of the token: `saker-server token list` shows it.")
        var token: Int64
        @Flag(help: "Shut out every vehicle that was enrolled with it too.")
        var withDevices = false

        func run() async throws {
            let devices = try await ServiceAdministration(try file.load())
                .revokeToken(token, withDevices: withDevices)
            Output.print(
                "Token \(token) is revoked" + (withDevices ? ", and \(counted(devices, "device")) with it" : ""))
        }
    }
}

/// As in `1 vehicle`, `2 vehicles`.
func counted(_ count: Int, _ noun: String, many: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : many ?? noun + "s")"
}
