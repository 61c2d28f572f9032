import Foundation
import ProgramTestKit
import Testing
import TrackModel

/// The vehicle's one program is the agent or the command line by the last part of the name that it was started with.
@Suite(.timeLimit(.minutes(10))) struct ProgramNameTests {
    /// Runs a built program under a name, as `exec -a` and a link give it one.
    private func run(
        _ program: String, as name: String, _ arguments: String...
    ) throws -> (status: Int32, output: String, all: String) {
        try Program.run("/usr/bin/bash", ["-c", "exec -a \"$0\" \"$@\"", name, Built.path(program)] + arguments)
    }

    @Test(arguments: ["saker", "sakerd"], ["saker", "sakerd"])
    func theNameDecidesAndNotTheFile(file: String, name: String) throws {
        for path in [name, "./\(name)", "/opt/vehicle/bin/\(name)", "/opt/saker/../sakerd/\(name)"] {
            let shown = try run(file, as: path, "--version")
            #expect(shown.output == "\(name) \(SakerVersion.text)\n" && shown.status == 0, "\(path): \(shown.all)")
        }
    }

    @Test func aLinkIsTheOtherProgram() throws {
        let directory = try TemporaryDirectory()
        let link = directory.file("sakerd")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.path("saker"))
        #expect(try Program.run(link, ["--version"]).output == "sakerd \(SakerVersion.text)\n")
    }

    @Test(arguments: ["track", "sakerd.old", "saker-0.1", "SAKERD", "/usr/sbin/", "-saker", " ", ""])
    func anotherNameIsRefused(name: String) throws {
        let shown = try run("saker", as: name, "--version")
        #expect(shown.status == 2 && shown.output.isEmpty, "\(shown.all)")
        #expect(shown.all.contains("started as '\(name)'.") && shown.all.contains("a link with"), "\(shown.all)")
    }

    /// The agent is refused what it does not know as ever, and the command line too: each has its own arguments.
    @Test func eachHasItsOwnArguments() throws {
        #expect(try run("saker", as: "sakerd", "status").status == 2)
        #expect(try run("sakerd", as: "saker", "--print-config").status == 2)
    }
}
