import AgentLogic
import ConfigurationFile
import Foundation
import Testing
import TrackModel

@testable import AgentRuntime

@Suite struct AgentConfigurationTests {
    private let minimal = "[server]\nhost = \"h\"\n[service]\nid = 7\nak = \"k\"\nentity = \"van\"\n"

    private func read(_ text: String) throws -> AgentConfiguration {
        try .read(ConfigurationReader(text: text, path: "/etc/saker/agent.toml"))
    }

    @Test func threeValuesAreEnough() throws {
        let configuration = try read(minimal)
        #expect(configuration.server.host == "h")
        #expect(configuration.server.name == "h")
        #expect(configuration.server.port == 7443)
        #expect(configuration.service.id.rawValue == 7)
        #expect(configuration.service.isStartedAtFirstBoot)
        #expect(configuration.cache.limit == 256 << 20)
        #expect(configuration.server.minimumTLS == .v13)
    }

    @Test func aVehicleWithACertificateNeedsNoAccessKey() throws {
        let text = minimal.replacingOccurrences(of: "ak = \"k\"\n", with: "").replacingOccurrences(
            of: "[server]\n", with: "[server]\nclient_certificate = \"/c\"\nclient_key = \"/k\"\n")
        let configuration = try AgentConfiguration.read(ConfigurationReader(text: text, path: "/etc/saker/agent.toml"))
        #expect(configuration.service.accessKey.revealed.isEmpty && configuration.service.secretTrouble == nil)
        #expect(AgentLogin(configuration.service, boot: nil).isDevice)
    }

    @Test func aFileWithASecretThatCannotBeUsedIsNoErrorForAnAgentThatRuns() throws {
        let directory = NSTemporaryDirectory() + "saker-secrets-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/agent.toml"
        func write(_ service: String) throws {
            try Data("[server]\nhost = \"h\"\n[service]\nid = 7\nentity = \"van\"\n\(service)\n".utf8)
                .write(to: URL(fileURLWithPath: path))
        }
        try Data().write(to: URL(fileURLWithPath: directory + "/empty"))
        for (line, file) in [
            ("ak_file = \"none\"", "none"), ("ak_file = \"empty\"", "empty"),
            ("ak = \"k\"\napp_code_file = \"none\"", "none"),
        ] {
            try write(line)
            #expect(throws: ConfigurationError.self, "\(line)") { try AgentConfiguration.load(path: path) }
            let service = try AgentConfiguration.load(path: path, needsSecrets: false).service
            let trouble = service.secretTrouble
            // A key that cannot be read makes no device of the vehicle.
            #expect(!AgentLogin(service, boot: nil).isDevice, "\(line)")
            #expect(trouble?.contains("\(directory)/\(file)") == true, "\(line): \(trouble ?? "")")
        }
        // No file is named at all: a person must write the configuration.
        try write("")
        #expect(throws: ConfigurationError.self) { try AgentConfiguration.load(path: path, needsSecrets: false) }
        try write("ak = \"k\"")
        #expect(try AgentConfiguration.load(path: path, needsSecrets: false).service.secretTrouble == nil)
    }

    @Test(arguments: [
        ("host = \"h\"", "host = \"https://h\"", ":2:", "URL"),
        ("host = \"h\"", "host = \"h:7443\"", ":2:", "the port"),
        ("host = \"h\"", "host = \"h\"\nserver_name = \"a b\"", ":3:", "server_name"),
        ("host = \"h\"", "host = \"h\"\npinned_key = \"sha1//x\"", ":3:", "not a key pin"),
        ("[service]", "[gnss]\nhost = \"a b\"\n[service]", ":4:", "letters, digits"),
        ("[service]", "[cache]\ndirectory = \"cache\"\n[service]", ":4:", "begin with /"),
        ("[service]", "[alarms]\njournal_limit = 100\n[service]", ":4:", "65536...67108864"),
    ])
    func whatTheAgentCannotUseIsSaidWithItsLine(_ old: String, _ new: String, _ line: String, _ rule: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try read(minimal.replacingOccurrences(of: old, with: new))
        }
        #expect(error?.detail.contains(line) == true && error?.detail.contains(rule) == true, "\(error?.detail ?? "")")
    }

    @Test func theAlarmJournalsLimitIsRead() throws {
        #expect(try read(minimal).alarmJournalLimit == 4 << 20)
        #expect(try read(minimal + "[alarms]\njournal_limit = 65536\n").alarmJournalLimit == 65_536)
    }

    @Test func parkingIsOffUnlessToldAndReachesTheSettings() throws {
        #expect(try read(minimal).parking == .init(delay: nil, interval: 240))
        let told = try read(minimal + "[parking]\ndelay = 300\ninterval = 60\n")
        #expect(told.parking == .init(delay: 300, interval: 60))
        let settings = Settings(defaultsOf: told)
        #expect(settings.location.parking == ParkingOptions(delay: 300, interval: 60))
        #expect(Settings(defaultsOf: try read(minimal)).location.parking == nil)
        for wrong in ["delay = 59", "delay = 86401", "interval = 9", "interval = 0"] {
            let error = #expect(throws: ConfigurationError.self) { try read(minimal + "[parking]\n\(wrong)\n") }
            #expect(error?.description.contains(":8:") == true, "\(wrong): \(error?.description ?? "")")
        }
    }

    @Test func hooksAreOffUntilADirectoryIsNamed() throws {
        #expect(try read(minimal).hooks == nil)
        #expect(try read(minimal + "[hooks]\ntime_limit = 5\n").hooks == nil)
        let given = try read(minimal + "[hooks]\ndirectory = \"/h\"\nevents = [\"alarm\", \"loss\"]\ntime_limit = 5\n")
        #expect(given.hooks == .init(directory: "/h", events: ["alarm", "loss"], timeLimit: 5))
        let wrong = #expect(throws: ConfigurationError.self) {
            try read(minimal + "[hooks]\ndirectory = \"/h\"\nevents = [\"alarms\"]\n")
        }
        #expect(wrong?.detail.contains("\"alarms\": hooks are run for alarm, cache") == true, "\(wrong?.detail ?? "")")
    }

    /// The sample is the documentation of every key: what the program reads and what the sample names is the same.
    @Test func theSampleNamesExactlyTheKeysThatAreRead() throws {
        let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("config/agent.toml")
        let text = try String(contentsOf: sample, encoding: .utf8)
        var table = ""
        var named: Set<String> = []
        for line in text.split(separator: "\n") {
            let bare = line.hasPrefix("# ") ? line.dropFirst(2) : line
            if line.hasPrefix("[") { table = String(line.dropFirst().prefix { $0 != "]" }) }
            guard let equals = bare.range(of: " = ") else { continue }
            let key = bare[..<equals.lowerBound]
            if key.allSatisfy({ $0.isLowercase || $0 == "_" }) { named.insert("\(table).\(key)") }
        }
        let known = Set(try read(minimal).effective.entries.map { "\($0.table).\($0.key)" })
        // The secrets themselves may stand in the file, but the sample recommends files of their own.
        #expect(named.union(["service.ak", "service.app_code"]) == known)
    }

    @Test func theSampleIsRightOnceItsKeyFileExists() throws {
        let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("config/agent.toml")
        let text = try String(contentsOf: sample, encoding: .utf8) + "\n"
        let withKey = text.replacingOccurrences(of: "[service]\n", with: "[service]\nak = \"k\"\n")
        #expect(try read(withKey).server.host == "tracks.example.net")
    }

    @Test(arguments: [
        ("[server]\nhost = \"h\"\nprt = 1\n[service]\nid = 7\nak = \"k\"\nentity = \"v\"\n", ":3:", "port"),
        ("[server]\nhost = \"h\"\nport = 70000\n[service]\nid = 7\nak = \"k\"\nentity = \"v\"\n", ":3:", "1...65535"),
        ("[server]\nhost = \"h\"\n[service]\nid = 7\nentity = \"v\"\n", "", "ak_file"),
        ("[server]\nhost = \"h\"\n[service]\nid = 7\nak = \"k\"\nentity = \"a,b\"\n", ":6:", "','"),
        (
            "[server]\nhost = \"h\"\nclient_key = \"/k\"\n[service]\nid = 7\nak = \"k\"\nentity = \"v\"\n", "",
            "client_certificate"
        ),
        ("[server]\nhost = \"h\"\n[service]\nid = 7\nak = \"k\"\n[cache]\nlimit = 5\n", ":7:", "2097152"),
        ("[service]\nid = 7\nak = \"k\"\n", "", "host"),
    ])
    func aMistakeIsNamedWithItsLineAndItsRule(text: String, line: String, rule: String) {
        let error = #expect(throws: ConfigurationError.self) { try read(text) }
        #expect(line.isEmpty || error?.description.contains(line) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains(rule) == true, "\(error?.description ?? "")")
    }

    @Test func noPrintedFormHoldsTheKey() throws {
        let text = minimal.replacingOccurrences(of: "\"k\"", with: "\"very-secret\"")
        let configuration = try read(text)
        #expect(configuration.service.accessKey.revealed == "very-secret")
        #expect(!configuration.effective.toml.contains("very-secret"))
        #expect(!"\(configuration)".contains("very-secret"))
        #expect(!String(reflecting: configuration).contains("very-secret"))
    }
}

@Suite struct ArgumentsTests {
    @Test func theDefaultIsToRunWithTheSystemsConfiguration() throws {
        let arguments = try Arguments([])
        #expect(arguments.task == .run)
        #expect(arguments.configurationPath == "/etc/saker/agent.toml")
    }

    @Test func optionsAreTaken() throws {
        #expect(try Arguments(["--config", "/a", "--check"]).task == .check)
        #expect(try Arguments(["--config=/a"]).configurationPath == "/a")
        #expect(try Arguments(["--print-config"]).task == .printConfiguration)
    }

    @Test(arguments: [["--confg", "x"], ["--config"], ["--config", ""], ["--config="], ["x"]])
    func anythingElseIsWrongUsage(arguments: [String]) {
        #expect(throws: Arguments.UsageError.self) { try Arguments(arguments) }
    }
}
