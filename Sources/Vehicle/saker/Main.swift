import AgentRuntime
import Dispatch
import Glibc
import SakerCommand

/// The one program of a vehicle: the agent under the name `sakerd`, the command line under the name `saker`. The name is
/// the last part of the path that the program was started with, so a link gives it the other one
/// (docs/decisions/0029-one-program.md).
///
/// Nothing runs before the choice. The agent keeps the thread that the process began with as its event loop, and starts
/// none of the threads that asynchronous commands run on.
@main enum Main {
    @MainActor static func main() {
        let started = CommandLine.arguments.first ?? ""
        switch started.split(separator: "/").last {
        case "sakerd": exit(AgentProcess.main(CommandLine.arguments.dropFirst()))
        case "saker":
            // As an asynchronous `main` does it: on this thread until the command waits for the first time.
            Task.immediate { await SakerProcess.main() }
            dispatchMain()
        default:
            SakerProcess.refuse(name: started)
        }
    }
}
