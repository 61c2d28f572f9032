// Sessions of the server: each login ends the session that its stream had before.
extension History {
    func watchSessions(_ frames: FrameChecker, _ socket: VirtualSocket, _ machine: ServerMachine) {
        frames.onWelcome = { [unowned self, unowned socket, weak machine] stream in
            let former = machine?.sessions.welcomed(socket, stream) ?? []
            guard !former.isEmpty else { return }
            after(SessionModel.patience) { history in
                guard former.contains(where: \.isActive) else { return }
                history.fail(
                    Violation(
                        guarantee: .boundedMemory,
                        detail: "a session goes on \(SessionModel.patience / 1000) s after a newer login of its stream")
                )
            }
        }
    }
}
