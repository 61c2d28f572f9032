import ArgumentParser
import Testing

@testable import Terminal

@Suite struct UnknownCommandTests {
    private struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tool", subcommands: [Serve.self, Device.self, Entity.self, Service.self],
            defaultSubcommand: Serve.self)
    }

    private struct Serve: ParsableCommand {
        @Flag var check = false
    }

    private struct Device: ParsableCommand {
        static let configuration = CommandConfiguration(subcommands: [List.self])
    }

    private struct Entity: ParsableCommand {
        static let configuration = CommandConfiguration(subcommands: [List.self], defaultSubcommand: List.self)
    }

    private struct Service: ParsableCommand {
        static let configuration = CommandConfiguration(subcommands: [Show.self], defaultSubcommand: Show.self)
    }

    private struct Show: ParsableCommand {
        @Argument var number: Int64?
    }

    private struct List: ParsableCommand, TakesNames {
        @Argument var names: [String] = []
    }

    @Test(arguments: [
        ["devise"], ["device", "lst"], ["foo", "--help"], ["device", "x", "y"], ["servee"],
        ["service", "shwo"], ["service", "show1"], ["help", "foo"], ["help", "entity", "van_07"],
    ]) func aMistypedCommandIsTold(arguments: [String]) throws {
        let problem = try #require(UnknownCommand.problem(arguments, of: Root.self))
        #expect(problem.hasPrefix("there is no command 'tool "))
    }

    @Test func theNearestCommandIsOffered() {
        #expect(
            UnknownCommand.problem(["devise"], of: Root.self)
                == "there is no command 'tool devise'. Did you mean 'tool device'?")
        #expect(
            UnknownCommand.problem(["device", "remove"], of: Root.self)
                == "there is no command 'tool device remove'. All commands: tool device --help")
    }

    @Test(arguments: [
        [], ["--check"], ["serve"], ["device", "list", "van"], ["entity", "van_07"], ["help"],
        ["help", "device", "list"],
        ["device", "--help"], ["service", "7"], ["service", "--json"],
        ["-x"],
    ]) func whatMayBeRightIsLeftToTheParser(arguments: [String]) {
        #expect(UnknownCommand.problem(arguments, of: Root.self) == nil)
    }
}
