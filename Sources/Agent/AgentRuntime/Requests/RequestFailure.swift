internal import AgentControl
internal import AgentLogic

/// What the caller of a request is told when the request ends without an answer.
struct RequestFailure {
    private let failure: RequestBook.Failure
    private let method: AgentMethod
    private let link: LinkState

    init(_ failure: RequestBook.Failure, in method: AgentMethod, link: LinkState) {
        self.failure = failure
        self.method = method
        self.link = link
    }

    var error: AgentControlError {
        switch failure {
        case .offline: offline
        case .full:
            AgentControlError(
                .busy, in: method, reason: "too many requests wait for the server already: nothing was sent, try again")
        case .notSent:
            AgentControlError(
                .busy, in: method,
                reason: "earlier requests are still waiting for the server: nothing was sent, try again")
        case .cut: unknown("the connection to the server was lost before the answer came")
        case .overdue: unknown("the server has not answered in time")
        }
    }

    private func unknown(_ what: String) -> AgentControlError {
        let advice =
            method == .addPoints
            ? "it is not known whether the points are stored; sending them again is safe, because a point of the same "
                + "entity and time replaces the earlier one"
            : "if it changes something, it is not known whether that was done: ask for it before sending it again"
        return AgentControlError(.outcomeUnknown, in: method, reason: "\(what): \(advice)")
    }

    private var offline: AgentControlError {
        let nothing = "nothing was sent"
        switch link {
        case .closed, .closing:
            return AgentControlError(
                .serviceNotStarted, in: method,
                reason: "the service is not started, so there is no connection (saker service start): \(nothing)")
        case .refused(_, let trouble):
            return AgentControlError(
                .authenticationError, in: method, reason: "the server refused the login: \(trouble.reason); \(nothing)")
        case .waiting(_, let trouble):
            return AgentControlError(
                .networkError, in: method, reason: "the server cannot be reached: \(trouble.reason); \(nothing)")
        case .connecting, .handshaking, .loggingIn, .online:
            return AgentControlError(
                .networkError, in: method, reason: "the connection to the server is just being made; \(nothing)")
        }
    }
}
