internal import TrackModel

// One of the two programs is an older one: it hears of nothing that it does not know, and what it has lasts when a newer one
// takes its place.
extension History {
    func beginOlderPrograms() {
        guard let older else { return }
        note(older.text)
        summary.olderPrograms = 1
        // Points of an older program say nothing of the time before them.
        gaps.areReasonsTold = false
        guard older.course != .stays else { return }
        after(older.changesAt) { $0.changeProgram() }
    }

    private func changeProgram() {
        guard var older, !isHealed else { return }
        older.change()
        self.older = older
        note("the \(older.program) becomes \(older.isOlder ? "an older" : "a newer") one")
        // The vehicle still has fences, and the two judge by different ones from now on.
        if older.isOlder { fences?.mayDiffer = true }
        switch older.program {
        case .server: stopServerGently { $0.startServer() }
        case .agent:
            guard let box else { return }
            end(box, how: .kill)
            bootAgent()
        }
    }

    /// A connection stands between an agent and a server of which one is older.
    func watchOlder(_ box: AgentBox, _ machine: ServerMachine, _ frames: FrameChecker, _ socket: VirtualSocket) {
        let isAgents = box.isOlder
        guard isAgents || machine.isOlder else {
            box.connector.rewrite = nil
            return
        }
        box.connector.rewrite = OlderPrograms.fromAgent
        socket.rewrite = OlderPrograms.fromServer
        frames.older = isAgents ? .agent : .server
    }

    /// Both programs know reports of alarms, so none may be left.
    var areReportsTaken: Bool { older?.isOlder != true }
}
