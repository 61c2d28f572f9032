internal import AgentLogic
internal import Logging
internal import TrackModel

/// What must survive a restart: what the agent was told last, the settings that people made, and the service's columns.
///
/// Owns the remembered state. May touch: the keeper of the state, and the journal.
final class MemoryShell {
    private let context: ShellContext
    private let keeper: any StateKeeper
    private(set) var state: RememberedState

    init(_ context: ShellContext, keeper: any StateKeeper, state: RememberedState) {
        self.context = context
        self.keeper = keeper
        self.state = state
    }

    func remember(_ target: TargetState) {
        state.target = .init(target)
        write()
    }

    /// Nil: nobody has set anything.
    func remember(_ settings: Settings?) {
        state.settings = settings.map { .init($0) }
        write()
    }

    /// The columns of a service, as its last login told them.
    func remember(_ columns: [AttributeColumn], of service: ServiceID) {
        let new = RememberedState.Columns(columns, of: service)
        guard state.columns != new else { return }
        state.columns = new
        write()
    }

    private func write() {
        do {
            try keeper.write(state)
        } catch {
            // The agent goes on; only a restart before the next successful write would forget this.
            context.log.error("State could not be remembered", metadata: ["error": "\(error)"])
        }
    }
}
