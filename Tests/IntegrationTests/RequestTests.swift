import Foundation
import ProgramTestKit
import Testing

/// Custom points and Web API requests through the real agent to the real server.
@Suite(.serialized, .timeLimit(.minutes(60))) struct RequestTests {
    private let time = 1_780_000_020

    private func add(_ seconds: Int, _ more: [String] = []) -> [String] {
        ["point", "add", "--lat", "52.5", "--lon", "4.25", "--time", "\(time + seconds)"] + more
    }

    @Test func pointsAndCallsGoThroughTheAgentAndFailClearlyWithoutALink() throws {
        let link = try CuttingProxy(seed: 1)
        let fleet = try Fleet(link: link)
        let agent = try fleet.startAgent()

        // Offline: at once, and nothing is kept.
        for command in [add(0), ["call", "track/getlatestpoint"]] {
            let refused = try fleet.saker(command)
            #expect(refused.status == 3, "\(refused.all)")
            #expect(refused.all.contains("nothing was sent"), "\(refused.all)")
        }

        let server = try fleet.startServer()
        try waitUntil("the agent is online", within: 300) {
            try fleet.saker(["reconnect"])
            return try fleet.linkState() == "online"
        }
        let added = try fleet.saker(add(0, ["--speed", "12.5"]))
        #expect(added.status == 0, "\(added.all)")
        let other = try fleet.saker(add(0, ["--entity", "van_08"]))
        #expect(other.status == 1 && other.all.contains("call_policy"), "\(other.all)")
        #expect(try fleet.track(around: time).map(\.time) == [time])
        #expect(try fleet.counter("gathered") == 0)

        // A file, of which the server refuses one point.
        let table = fleet.directory.file("points.csv")
        let rows = (1...1500).map { "\(time + $0),52.5,4.25\n" }.joined() + "4000000000,1,2\n"
        try ("time,lat,lon\n" + rows).write(toFile: table, atomically: true, encoding: .utf8)
        let imported = try fleet.saker(["point", "import", table])
        #expect(imported.status == 1 && imported.all.contains("line 1502: refused: time"), "\(imported.all)")
        #expect(try fleet.track(around: time).map(\.time) == Array(time...(time + 1500)))

        // The same answer with the agent's identity and with a key.
        let direct = ["--config", fleet.agent + "/client.toml"]
        for command in [["track", "latest", fleet.entity], ["entity", "list", fleet.entity, "--json"]] {
            let (through, straight) = (try fleet.saker(command), try fleet.saker(command + direct))
            #expect(through.status == 0 && straight.status == 0, "\(through.all)\n\(straight.all)")
            #expect(through.output == straight.output)
        }
        let called = try fleet.saker(["call", "track/getlatestpoint", "coord_type_output=wgs84"])
        #expect(called.status == 0 && called.output.contains("\"loc_time\":\(time + 1500)"), "\(called.all)")
        let refused = try fleet.saker(["call", "track/getlatestpoint", "entity_name=van_08"])
        #expect(refused.status == 1 && refused.all.contains("call_policy"), "\(refused.all)")

        // A track and an export without a key, from the vehicle itself.
        let window = ["--from", "\(time - 60)", "--to", "\(time + 1600)"]
        let history = try fleet.saker(["track", "history"] + window)
        #expect(history.status == 0 && history.output.contains("1,501 points"), "\(history.all.suffix(300))")
        #expect(try fleet.saker(["track", "history", fleet.entity] + window + direct).output == history.output)
        for format in ["csv", "gpx", "geojson", "kml"] {
            let file = fleet.directory.file("own.\(format)")
            let exported = try fleet.saker(["track", "export"] + window + ["--output", file])
            #expect(exported.status == 0 && exported.output.contains("1,501 points"), "\(exported.all)")
            let straight = try fleet.saker(["track", "export", fleet.entity, "--format", format] + window + direct)
            #expect(straight.status == 0, "\(straight.all.suffix(300))")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == straight.output, "\(format)")
        }
        let strange = try fleet.saker(
            ["track", "export", "van_08"] + window + ["--output", fleet.directory.file("other.csv")])
        #expect(strange.status == 1 && strange.all.contains("call_policy"), "\(strange.all)")
        #expect(!FileManager.default.fileExists(atPath: fleet.directory.file("other.csv")))
        for command in [["track", "distance"], ["track", "stays"], ["track", "gaps"]] {
            let through = try fleet.saker(command + window)
            let straight = try fleet.saker(command + [fleet.entity] + window + direct)
            #expect(
                through.status == 0 && through.output == straight.output, "\(command): \(through.all)\n\(straight.all)")
        }

        // The link is cut when the server has stored the points, and before the answer is here.
        let before = try fleet.rows()
        link.set(.deafAgent)
        let cut = try Program(Built.path("saker"), add(2000), environment: ["SAKER_SOCKET": fleet.socket])
        try waitUntil("the point is stored", within: 300) { try fleet.rows() == before + 1 }
        link.set(.reset)
        #expect(cut.end() == 1)
        #expect(cut.printed.contains("not known whether"), "\(cut.printed)")
        try link.heal()
        try waitUntil("the agent is online again", within: 300) {
            try fleet.saker(["reconnect"])
            return try fleet.linkState() == "online"
        }
        #expect(try fleet.saker(add(2000)).status == 0)
        #expect(try fleet.track(around: time).map(\.time).suffix(2) == [time + 1500, time + 2000])

        #expect(agent.end(SIGTERM) == 0, "\(agent.printed)")
        #expect(server.end(SIGTERM) == 0, "\(server.printed)")
    }
}
