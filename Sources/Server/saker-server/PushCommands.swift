import ArgumentParser
import Glibc
import JSON
import ServerRuntime
import Terminal
import TrackStore

extension PushRecord.State: ExpressibleByArgument {}

/// `saker-server push`
struct Pushes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Sends messages to the vehicles of a service, and lists messages and alarms.",
        discussion: """
            Works while the server runs. A connected vehicle gets a message within about one second. The server sends the \
            message again every 15 s, for 10 minutes, until the vehicle has it on disk. It begins again with the vehicle's \
            next login, until the message's lifetime ends. On the vehicle: saker alarms, saker watch, and hooks.

            Examples:
              saker-server push send 1 --entity van_07 --text "Call the office"
              saker-server push send 1 --all --type 70 --lifetime 1h '{"road":"A9","closed":true}'
              saker-server push list 1 --state waiting
            """,
        subcommands: [Send.self, List.self])

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Queue a message for one entity, for several, or for a whole service.")

        @OptionGroup var file: ConfigurationOption
        @Option(
            help: ArgumentHelp("Send it to this entity; repeat for more. It must exist.", valueName: "name"))
        var entity: [String] = []
        @Flag(help: "Send it to every entity that the service has now.")
        var all = false
        @Option(
            parsing: .unconditional,
            help: "The type of the message, 65 to 255; the programs on the vehicle decide what each means.")
        var type = PushRules.message
        @Option(
            help: ArgumentHelp(
                "How long it may be delivered: seconds, or 90s, 15min, 12h, 7d; at most 7d.", valueName: "time"))
        var lifetime = "7d"
        @Option(help: ArgumentHelp("Instead of JSON: the message is {\"text\": …}.", valueName: "text"))
        var text: String?
        @Argument(help: "The number of the service.")
        var service: Int64
        @Argument(help: "A JSON object of at most 8192 bytes; - reads it from standard input.")
        var json: String?

        func run() async throws {
            guard entity.isEmpty == all else {
                throw ServerError(.usage, "say who gets it: --entity NAME, once or more, or --all")
            }
            let body: String
            switch (json, text) {
            case (nil, let text?): body = JSONValue.object(["text": .string(text)]).description
            case ("-", nil): body = try Self.input()
            case (let json?, nil): body = json
            case (nil, nil), (.some, .some):
                throw ServerError(.usage, "give the message as a JSON object, or as --text")
            }
            guard let lifetime = Self.milliseconds(lifetime) else {
                throw ServerError(.usage, "--lifetime '\(lifetime)' is no time: give seconds, or 90s, 15min, 12h, 7d")
            }
            let queued = try await ServiceAdministration(try file.load())
                .push(body, type: type, to: all ? nil : entity, lifetime: lifetime, in: service)
            let whom = queued.count == 1 ? "1 entity" : "\(queued.count) entities"
            let nobody = queued.count == 0 ? " It has none yet, so nobody will get it." : ""
            Output.print("Message \(queued.message) is queued for \(whom) of service \(service).\(nobody)")
        }

        /// One byte more than is allowed is enough to be refused.
        private static func input() throws -> String {
            var bytes = [UInt8](repeating: 0, count: PushRules.maximumBodyBytes * 4)
            var count = 0
            while count < bytes.count {
                let done = bytes.withUnsafeMutableBytes {
                    read(STDIN_FILENO, $0.baseAddress?.advanced(by: count), $0.count - count)
                }
                if done < 0, errno == EINTR { continue }
                guard done >= 0 else {
                    throw ServerError(.usage, "standard input cannot be read: \(String(cString: strerror(errno)))")
                }
                if done == 0 { break }
                count += done
            }
            guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
                throw ServerError(.usage, "the message on standard input is not UTF-8")
            }
            return text
        }

        private static func milliseconds(_ text: String) -> Int64? {
            let digits = text.prefix { $0.isASCII && $0.isNumber }
            let units: [Substring: Int64] = [
                "": 1000, "s": 1000, "min": 60_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
            ]
            guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count)] else { return nil }
            let (result, overflow) = number.multipliedReportingOverflow(by: unit)
            return overflow ? nil : result
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the pushes of the last seven days, the newest first.",
            discussion: """
                States: waiting (not acknowledged yet), delivered (on the vehicle's disk), given-up (not acknowledged in 10 \
                minutes of a session; sent again after the next login), expired (its lifetime ended), withdrawn (its entity \
                was deleted). Types: 3 is an alarm of a fence, 65 and above are messages. On a terminal the bodies are cut to \
                its width; --wide and --json have all of them.
                """)

        @OptionGroup var file: ConfigurationOption
        @Option(help: ArgumentHelp("Only those of this entity.", valueName: "name"))
        var entity: String?
        @Option(help: "Only those in this state: waiting, delivered, given-up, expired or withdrawn.")
        var state: PushRecord.State?
        @Option(parsing: .unconditional, help: ArgumentHelp("At most so many.", valueName: "number"))
        var limit = 100
        @Flag(help: "One JSON object a line, times in milliseconds since 1970.")
        var json = false
        @OptionGroup var table: TableOptions
        @Argument(help: "The number of the service.")
        var service: Int64

        func run() async throws {
            guard limit > 0 else { throw ServerError(.usage, "--limit \(limit): give 1 or more") }
            let found = try await ServiceAdministration(try file.load())
                .pushes(of: service, matching: PushFilter(entity: entity, state: state), limit: limit)
            guard !json else {
                for push in found.pushes { Output.print(json: push.json.description) }
                return
            }
            var rows = TextTable([
                TextTable.Column("QUEUED", rank: 1), .number("MESSAGE"), .number("TYPE", rank: 2), .text("ENTITY"),
                "STATE", TextTable.Column("SINCE", rank: 3), .beginning("BODY"),
            ])
            for push in found.pushes {
                let record = push.record
                rows.add(
                    push.created, "\(record.push.message)", "\(record.push.type)", record.entity, push.state.rawValue,
                    push.since ?? "-", record.push.body)
            }
            for line in rows.lines(width: table.width) { Output.print(line) }
            let rest = found.total - found.pushes.count
            if rest > 0 { Output.print("\(rest) more: raise --limit, or choose with --entity and --state") }
        }
    }
}
