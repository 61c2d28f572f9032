import Foundation

/// One drive through three fences of the server and three of the vehicle's own with programs of two versions: a visit with the
/// link, a visit while the server is killed, and a visit behind a kill of the agent. Every point and every alarm must arrive
/// once. Programs from before there were fences have none: then the points are judged, and the alarms that there are.
package final class VersionRound {
    /// Which programs run: `true` is the old version.
    package struct Pair: Hashable, Sendable, CustomStringConvertible {
        package let isAgentOld: Bool
        package let isServerOld: Bool

        package init(isAgentOld: Bool, isServerOld: Bool) {
            (self.isAgentOld, self.isServerOld) = (isAgentOld, isServerOld)
        }

        package var description: String {
            "\(isAgentOld ? "old" : "new") agent, \(isServerOld ? "old" : "new") server"
        }
    }

    /// Which programs run before and after the kills: the files of the first ones are those of the second ones.
    package struct Plan: Hashable, Sendable, CustomStringConvertible {
        package let before: Pair
        package let after: Pair

        package init(_ before: Pair, then after: Pair? = nil) {
            (self.before, self.after) = (before, after ?? before)
        }

        package var description: String { before == after ? "\(before)" : "\(before), then \(after)" }

        private static let olds = Pair(isAgentOld: true, isServerOld: true)
        private static let bothNew = Pair(isAgentOld: false, isServerOld: false)
        private static let oldAgent = Pair(isAgentOld: true, isServerOld: false)
        private static let oldServer = Pair(isAgentOld: false, isServerOld: true)
        /// Both mixtures, and the ways from the old programs to the new ones.
        package static let all = [
            Plan(oldAgent), Plan(oldServer), Plan(olds, then: bothNew), Plan(olds, then: oldAgent),
            Plan(olds, then: oldServer), Plan(oldServer, then: bothNew), Plan(oldAgent, then: bothNew),
        ]
    }

    package struct Outcome: Sendable {
        package fileprivate(set) var points = 0
        package fileprivate(set) var early = 0
        /// Whether the first server knew fences, and whether the first agent knew fences of its own; nil: nobody asked.
        package fileprivate(set) var hasServerFences: Bool?
        package fileprivate(set) var hasOwnFences: Bool?
        package fileprivate(set) var problems: [String] = []
        /// The directory, which is kept when there are problems.
        package fileprivate(set) var kept: String?
        package var isGood: Bool { problems.isEmpty }
    }

    private static let seconds = 481
    private static let stops = [100, 220, 360]
    private let plan: Plan
    private let old: String
    /// The old server sends fences, and the old agent judges them.
    private let isOldFenced: Bool
    private let fleet: Fleet
    private let source: ReceiverSource
    private let gpsd: Program
    private var server: Program
    private var agent: Program
    private var outcome = Outcome()
    /// The first server has fences, and so has the first agent. No later program of a plan is older.
    private var hasServerFences = false
    private var hasOwnFences = false

    /// `old`: the folder of the old programs. Throws nothing: problems are in the outcome.
    package static func run(_ plan: Plan, old: String) -> Outcome {
        do {
            return try VersionRound(plan, old: old).run()
        } catch {
            var outcome = Outcome()
            outcome.problems = ["the programs could not be started: \(error)"]
            return outcome
        }
    }

    private init(_ plan: Plan, old: String) throws {
        (self.plan, self.old) = (plan, old)
        isOldFenced = try Program.run("\(old)/saker", ["fence", "list", "--help"]).output.contains("--server")
        // New programs must be content with the files of old ones.
        fleet = try Fleet(founder: old)
        // The fences are younger than the receiver's first dates otherwise.
        let start = Int(Date().timeIntervalSince1970) + 60
        source = try ReceiverSource(
            epochs: ReceiverSource.drive(seconds: Self.seconds, from: start), pause: 0.01)
        gpsd = try fleet.startGPSD(source: source.address)
        server = try fleet.startServer(from: plan.before.isServerOld ? old : nil)
        agent = try fleet.startAgent(from: plan.before.isAgentOld ? old : nil)
    }

    private func run() -> Outcome {
        do {
            try drive()
            try judge()
        } catch {
            outcome.problems.append("\(error)")
        }
        for program in [agent, server, gpsd] { program.end(SIGKILL) }
        source.end()
        if !outcome.isGood {
            fleet.directory.keep()
            outcome.kept = fleet.directory.path
            for (name, program) in [("agent", agent), ("server", server)] {
                try? program.printed.write(
                    toFile: "\(fleet.directory.path)/\(name).printed", atomically: true, encoding: .utf8)
            }
        }
        return outcome
    }

    private func isFenced(_ pair: Pair) -> Bool { isOldFenced || !pair.isAgentOld && !pair.isServerOld }

    private func isOnline() throws -> Bool { try fleet.linkState() == "online" }

    private func drive() throws {
        try waitUntil("the agent is online", within: 300) { try isOnline() }
        try makeFences()
        try play(to: 150)
        if hasServerFences {
            try waitUntil("the first visit is in the history", within: 300) { try fleet.alarmHistory().count == 2 }
        }

        server.end(SIGKILL)
        try play(to: 290)
        agent.end(SIGKILL)
        agent = try fleet.startAgent(from: plan.after.isAgentOld ? old : nil)
        try waitUntil("the agent reads gpsd again", within: 300) {
            let feed = try fleet.status()["feed"] as? [String: Any]
            return ["fix", "no_fix"].contains(feed?["state"] as? String ?? "")
        }
        try play(to: Self.seconds)

        server = try fleet.startServer(from: plan.after.isServerOld ? old : nil)
        try waitUntil("the agent is online", within: 300) {
            try fleet.saker(["reconnect"])
            return try isOnline()
        }
        try waitUntil("the vehicle's points have arrived", within: 300) {
            let cache = try fleet.status()["cache"] as? [String: Any]
            return cache?["points"] as? Int == 0
        }
    }

    private func makeFences() throws {
        hasServerFences = try fleet.hasServerFences()
        hasOwnFences = try fleet.hasOwnFences()
        for second in Self.stops {
            if hasServerFences { try fleet.makeFence(atSecond: second) }
            if hasOwnFences { try fleet.makeOwnFence(atSecond: second, isReported: false) }
        }
        (outcome.hasServerFences, outcome.hasOwnFences) = (hasServerFences, hasOwnFences)
        guard hasServerFences, isFenced(plan.before) else { return }
        try waitUntil("the vehicle has the fences", within: 300) { try fleet.keptServerFences() == 3 }
    }

    /// Lets the receiver go on, and waits until the agent has taken a point from its last seconds.
    private func play(to second: Int) throws {
        source.resume()
        try waitUntil("second \(second) of the drive", within: 300) { source.sent >= second }
        source.pause()
        var last = (-1, 0)
        // The receiver has stopped a few epochs later. The agent makes the last point when an epoch is over.
        try waitUntil("the agent has the points of second \(second)", within: 300) {
            let gathered = try fleet.counter("gathered")
            last = gathered == last.0 && gathered > 0 ? (gathered, last.1 + 1) : (gathered, 0)
            return last.1 >= 30
        }
    }

    private func judge() throws {
        if hasServerFences { try judgeServerFences() }
        if hasOwnFences {
            let told = try fleet.ownAlarms()
            if told.map(\.description).sorted() != Self.visits.sorted() || Set(told.map(\.key)).count != told.count {
                outcome.problems.append("of its own fences the vehicle has told \(told)")
            }
        }
        try judgePoints()
    }

    private func judgeServerFences() throws {
        let history = try fleet.alarmHistory()
        if history.map(\.description) != Self.visits { outcome.problems.append("the history has \(history)") }
        if Set(history.map(\.key)).count != history.count { outcome.problems.append("the history doubles an alarm") }
        // An agent from before there were fences keeps alarms of fences as any other push.
        guard try fleet.hasOwnFences() else { return }
        try waitUntil("the vehicle has all alarms", within: 300) {
            let told = try fleet.vehicleAlarms()
            return told.unconfirmed == 0 && told.early.count + told.others.count >= Self.visits.count
        }
        let told = try fleet.vehicleAlarms()
        let all = told.early + told.others
        if Set(all.map(\.key)).count != all.count { outcome.problems.append("the vehicle has told an alarm twice") }
        if Set(all) != Set(history) { outcome.problems.append("the vehicle has \(all), and the history \(history)") }
        if !isFenced(plan.before), !isFenced(plan.after), !told.early.isEmpty {
            outcome.problems.append("early alarms without a server that sends fences: \(told.early)")
        }
        if isFenced(plan.before), told.early.isEmpty { outcome.problems.append("no alarm was told early") }
        outcome.early = told.early.count
    }

    /// The enter and the exit of each fence, once.
    private static let visits = [1, 2, 3].flatMap { ["enter \($0)", "exit \($0)"] }

    private func judgePoints() throws {
        let times = try fleet.track(around: Int(Date().timeIntervalSince1970)).map(\.time)
        outcome.points = times.count
        let rows = try fleet.rows()
        if rows != times.count { outcome.problems.append("\(times.count) points are stored \(rows) times") }
        let gaps = zip(times, times.dropFirst()).filter { $1 - $0 > 4 || $1 <= $0 }
        if !gaps.isEmpty { outcome.problems.append("points are missing between \(gaps)") }
        if let first = times.first, let last = times.last, last - first < Self.seconds - 20 {
            outcome.problems.append("the track has \(last - first) s of \(Self.seconds)")
        }
    }
}
