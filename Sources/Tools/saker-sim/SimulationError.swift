/// Why a simulation cannot run. The text names the value and the rule.
struct SimulationError: Error, CustomStringConvertible {
    enum Code {
        case routeFile
        case network
        case truthFile
    }

    let code: Code
    let description: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        description = detail
    }
}
