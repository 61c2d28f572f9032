import Foundation
import ProgramTestKit
import Testing
import TrackStore

@testable import ServerRuntime

/// The commands about fences that the vehicle's command line has too, on the store of a server.
@Suite("Fences of the server's command line", .timeLimit(.minutes(5)))
struct FenceProgramTests {
    private let directory: TemporaryDirectory
    private var home: String { directory.path + "/server" }

    init() throws { directory = try TemporaryDirectory() }

    private func fence(_ arguments: String...) async throws -> ProcessResult {
        try await run(serverPath, ["fence"] + arguments + ["--config", home + "/server.toml"])
    }

    private func begin() async throws {
        let made = try await run(serverPath, ["init", "--directory", home, "--host", "127.0.0.1"])
        try #require(made.status == 0, "\(made.errors)")
    }

    private func have(_ entities: String...) async throws {
        let file = try ServerConfiguration.load(path: home + "/server.toml").store
        let store = try await StoreFactory.openForCommand(file).store
        let service = try #require(try await store.services().first?.id)
        for name in entities {
            try await store.addEntity(NewEntity(name: name), in: service, at: SystemClock.now())
        }
        try await store.close()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = directory.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func shown(_ fence: String) async throws -> String { try await self.fence("show", "1", fence).output }

    @Test func aFenceIsMadeChangedAndDeleted() async throws {
        try await begin()
        try await have("van", "bus")
        let circle = try await fence(
            "add", "circle", "1", "--at", "-54.8,-68.3", "--radius", "50.5", "--name", "Ushuaia", "--stay", "60",
            "--floor", "3", "--watch", "van", "--watch", "bus", "--action", "enter={\"gate\":3}", "--remote", "enter",
            "--speed-limit", "36",
            "--window", "mon-fri 08:00-18:00", "--zone", "-03:00")
        #expect(circle.status == 0 && circle.output == "Made fence 1 'Ushuaia'.\n", "\(circle.errors)")
        let text = try await shown("1")
        #expect(text.contains("circle of 50.5 m") && text.contains("bus") && text.contains("van"), "\(text)")
        for part in [
            "Fence 1 'Ushuaia', revision 1", "place     -54.800000, -68.300000\n", "floor     3\n",
            #"on enter  {"gate":3}, told to the others, too"#, "stay after 60 s, over 36 km/h\n",
            "mon-fri 08:00-18:00 (-03:00)\n",
        ] {
            #expect(text.contains(part), "\(part): \(text)")
        }
        let polygon = try await fence(
            "add", "polygon", "1", "--at", "40,116 40,116.01 40.01,116.01", "--name", "yard", "--watch-all", "--json")
        #expect(polygon.output == "{\"fence_id\":2}\n", "\(polygon.errors)")
        let corridor = try await fence(
            "add", "corridor", "1", "--at", "40,116 40,116.02", "--offset", "50", "--group", "ways", "--watch-all")
        #expect(corridor.output == "Made fence 3.\n", "\(corridor.errors)")
        let list = try await fence("list", "1")
        let cells = list.output.split(separator: "\n").map { line in
            line.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty && !$0.hasSuffix("Z") }
        }
        #expect(
            cells == [
                ["NUMBER", "NAME", "SHAPE", "TELLS", "WATCHES", "GROUP", "CHANGED"],
                ["1", "Ushuaia", "circle of 50.5 m", "enter, exit, stay 60 s, over 36 km/h", "bus, van"],
                ["2", "yard", "polygon of 3 vertices", "enter, exit", "everyone"],
                ["3", "corridor of 50 m", "enter, exit", "everyone", "ways"],
            ], "\(list.output)")
        let json = try await fence("list", "1", "--json", "--limit", "3")
        #expect(json.output.contains(#""group":"ways""#) && json.output.contains(#""tells":"enter, exit""#), "\(json)")
        for (number, place) in [
            ("2", "40.000000, 116.000000; 40.000000, 116.010000; 40.010000, 116.010000"),
            ("3", "40.000000, 116.000000; 40.000000, 116.020000"),
        ] {
            #expect(try await shown(number).contains(place + "\n"))
        }

        let smaller = try await fence("edit", "1", "Ushuaia", "--radius", "40", "--clear", "floor")
        #expect(smaller.output == "Changed fence 1, now revision 2.\n", "\(smaller.errors)")
        let renamed = try await fence("edit", "1", "1", "--name", "south")
        #expect(renamed.output == "Changed fence 1.\n", "\(renamed.errors)")
        let changed = try await shown("1")
        #expect(changed.contains("circle of 40") && changed.contains("south") && !changed.contains("floor"))
        let same = try await fence("edit", "1", "1", "--radius", "40")
        #expect(same.status == 2 && same.errors.contains("nothing is changed"), "\(same.errors)")
        let kind = try await fence("edit", "1", "2", "--radius", "40")
        #expect(kind.status == 2 && kind.errors.contains("is no circle"), "\(kind.errors)")

        #expect(try await fence("delete", "1", "south", "2").output == "Deleted 2 fences.\n")
        let asked = try await fence("delete", "1", "--group", "ways")
        #expect(asked.status == 2 && asked.errors.contains("--yes"), "\(asked.errors)")
        #expect(try await fence("delete", "1", "--group", "ways", "--yes").output == "Deleted fence 3.\n")
        #expect(try await fence("delete", "1", "--all", "--yes").output == "There are no fences.\n")
    }

    @Test func whatIsWrongIsNamedAndChangesNothing() async throws {
        try await begin()
        let place = ["--at", "40,116", "--radius", "50"]
        for (arguments, status, reason) in [
            (["add", "circle", "1"] + place, 2, "--watch-all"),
            (["add", "circle", "1", "--watch-all", "--report"] + place, 2, "for the fences of a vehicle"),
            (["add", "circle", "1", "--watch-all", "--remote", "enter"] + place, 2, "--remote tells its enter"),
            (["add", "circle", "1", "--watch", "nobody_yet"] + place, 1, "no entity named 'nobody_yet'"),
            (["add", "circle", "9", "--watch-all"] + place, 1, "no service 9"),
            (["add", "circle", "1", "--watch-all", "--at", "40,116", "--radius", "0"], 2, "radius"),
            (["add", "circle", "1", "--watch-all", "--at", "99,116", "--radius", "5"], 64, "is no place"),
            (["add", "district", "1", "Berlin", "--watch-all"], 1, "saker-server district import"),
            (["edit", "1", "depot", "--radius", "5"], 1, "no fence 'depot'"),
            (["delete", "1", "7"], 1, "no fence '7'"), (["delete", "1"], 64, "which fences"),
            (["status", "1"], 2, "--entity"), (["status", "1", "--entity", "van"], 1, "no entity named 'van'"),
        ] as [([String], Int32, String)] {
            let result = try await run(
                serverPath, ["fence"] + arguments + ["--config", home + "/server.toml"])
            #expect(status == 64 ? result.status == 2 : result.status == status, "\(arguments): \(result)")
            #expect(result.errors.contains(reason) && result.output.isEmpty, "\(arguments): \(result.errors)")
        }
        #expect(try await fence("export", "1").output == "{\"type\":\"FeatureCollection\",\"features\":[]}\n")
    }

    @Test func districtsOfTheServerAreFound() async throws {
        try await begin()
        let districts = try file(
            "d.geojson",
            """
            {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"湖南省"},"geometry":{"type":"Polygon",
            "coordinates":[[[112,28],[113,28],[113,29],[112,28]]]}}]}
            """)
        let imported = try await run(
            serverPath, ["district", "import", districts, "--config", home + "/server.toml"])
        #expect(imported.status == 0, "\(imported.errors)")
        let made = try await fence("add", "district", "1", "湖南", "--watch-all")
        #expect(made.output == "Made fence 1 '湖南省'.\n", "\(made.errors)")
        let ofFile = try await fence("add", "district", "1", "湖南", "--districts", districts, "--watch-all")
        #expect(ofFile.output == "Made fence 2 '湖南省'.\n", "\(ofFile.errors)")
    }

    @Test func placesAndTracksAreTried() async throws {
        try await begin()
        for (name, floor) in [("two", "2"), ("three", "3")] {
            let made = try await fence(
                "add", "circle", "1", "--at", "40,116", "--radius", "100", "--name", name, "--floor", floor,
                "--watch-all")
            #expect(made.status == 0, "\(made.errors)")
        }
        let inside = try await fence("status", "1", "--at", "40,116")
        #expect(inside.output.contains("The place is inside 2 of 2 fences."), "\(inside)")
        let one = try await fence("status", "1", "three", "--at", "41,116", "--json")
        #expect(
            one.output.hasPrefix("[{\"distance\":") && one.output.contains("\"status\":\"out\"")
                && one.output.contains("\"fence_name\":\"three\""), "\(one)")
        let track = try file(
            "drive.csv",
            "time,lat,lon,accuracy,floor\n"
                + [("20:00", "2"), ("21:00", "3"), ("23:00", "2")]
                .map { "2026-03-05T08:\($0.0)Z,40,116,5,\($0.1)\n" }.joined())
        let trial = try await fence("test", "1", track, "--fence", "three", "--json")
        #expect(trial.status == 0, "\(trial.errors)")
        let actions = trial.output.split(separator: "\"action\":\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(actions == ["enter", "exit"], "\(trial.output)")
        let all = try await fence("test", "1", track)
        #expect(all.output.contains("alarms of 2 fences along 3 points."), "\(all)")
    }
}
