import Diagnosing
import JSON

/// Makes every check on the same facts, in the order in which a person repairs things.
struct Diagnosis: Hashable {
    private let list: CheckList<VehicleCheck>
    /// The agent could not be asked.
    private let isAgentSilent: Bool

    init(_ facts: Facts) {
        list = CheckList([
            AgentChecks.agent(facts), ConfigurationCheck.configuration(facts),
            AgentChecks.service(facts), AgentChecks.gather(facts), AgentChecks.settings(facts),
            ReceiverChecks.gpsd(facts), ReceiverChecks.device(facts), ReceiverChecks.fix(facts),
            ClockCheck.clock(facts),
            ServerChecks.dns(facts), ServerChecks.tcp(facts), ServerChecks.tls(facts),
            CertificateCheck.certificates(facts), IdentityCheck.identity(facts), ServerChecks.login(facts),
            StorageChecks.disk(facts), StorageChecks.cache(facts), FenceCheck.fences(facts),
            StorageChecks.permissions(facts),
        ])
        isAgentSilent = facts.status == nil
    }

    var checks: [Check] { list.checks }

    /// 3 when the agent could not be asked, else 1 when something failed, else 0.
    var exitCode: Int32 { isAgentSilent ? 3 : list.hasFailure ? 1 : 0 }

    var lines: [String] { lines(width: nil) }

    /// `width`: columns of the terminal, where sentences go on below; nil: a line for each.
    func lines(width: Int?) -> [String] {
        list.lines(ending: "Nothing keeps this vehicle from being tracked.", width: width)
    }

    var json: JSONValue { list.json }
}
