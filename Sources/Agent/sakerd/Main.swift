import AgentRuntime
import Glibc

@main struct Sakerd {
    static func main() {
        exit(AgentProcess.main(CommandLine.arguments.dropFirst()))
    }
}
