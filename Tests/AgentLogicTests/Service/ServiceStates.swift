import AgentLogic
import TrackTestKit

typealias Action = ServiceMachine.Action

let van = "van 7"
let network = LinkTrouble(.network, "no route to host")

func request(_ number: UInt64) -> RequestID { RequestID(rawValue: number) }

/// Each state of the service, reached by events.
enum ServiceSetup: CaseIterable {
    case stopped, starting, restored, online, offline, stopping

    func make(keepAlive: Bool = false) -> ServiceMachine {
        var machine = ServiceMachine(keepAlive: keepAlive)
        switch self {
        case .stopped: break
        case .starting: _ = machine.startService(entity: van, request: request(1))
        case .restored: _ = machine.restore(TargetState(entity: van, isServiceStarted: true))
        case .online:
            _ = machine.startService(entity: van, request: request(1))
            _ = machine.uplinkChanged(.online)
        case .offline:
            _ = machine.startService(entity: van, request: request(1))
            _ = machine.uplinkChanged(.waiting(until: 0, network))
        case .stopping:
            _ = machine.startService(entity: van, request: request(1))
            _ = machine.uplinkChanged(.online)
            _ = machine.stopService(request: request(2))
        }
        return machine
    }
}
