import AgentControl
import Diagnosing
import Testing
import Varlink

@testable import SakerCommand

extension DiagnosisTests {
    /// Facts, and the verdict of one check that follows from them.
    struct Case: Sendable, CustomTestStringConvertible {
        let title: String
        let facts: Facts
        let name: Check.Name
        let verdict: Check.Verdict
        /// Parts of what was found, and of the remedy.
        var found = ""
        var remedy = ""

        var testDescription: String { title }

        init(
            _ title: String, _ facts: Facts, _ name: Check.Name, _ verdict: Check.Verdict, _ found: String = "",
            _ remedy: String = ""
        ) {
            (self.title, self.facts, self.name, self.verdict) = (title, facts, name, verdict)
            (self.found, self.remedy) = (found, remedy)
        }
    }

    static func silent(_ code: VarlinkClientError.Code, _ change: (inout Facts) -> Void = { _ in }) -> Facts {
        Facts.with {
            $0.answer = .silent(code, "/run/saker/agent.varlink: no")
            change(&$0)
        }
    }

    static func gpsd(_ result: GPSDFacts.Result, host: String = "127.0.0.1") -> Facts {
        Facts.status { $0.feed.state = .noFix }.changed {
            $0.gpsd = GPSDFacts(host: host, port: 2947, result: result)
        }
    }

    static func unresolved(_ resolution: ServerFacts.Resolution) -> ServerFacts {
        ServerFacts(host: "track.example.org", port: 7443, resolution: resolution, connection: nil)
    }

    static let receiver = [GPSDFacts.Device(path: "/dev/ttyACM0", driver: "")]
}

extension Facts {
    func changed(_ change: (inout Facts) -> Void) -> Facts {
        var facts = self
        change(&facts)
        return facts
    }

    func changedStatus(_ change: (inout AgentStatus) -> Void) -> Facts {
        guard var status else { return self }
        change(&status)
        return changed { $0.answer = .status(status) }
    }
}
