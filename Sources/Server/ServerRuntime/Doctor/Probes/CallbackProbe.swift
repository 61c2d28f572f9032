import AlarmCallbacks
import TrackModel
import TrackStore

/// Sends the check of a URL to each operator's URL, as `fence/seturl` does.
enum CallbackProbe {
    private static let most = 50
    private static let atATime = 8

    static func facts(_ waiting: [WaitingAlarms], _ client: CallbackClient) async -> [CallbackFacts] {
        var found: [CallbackFacts] = []
        var rest = waiting.prefix(most)[...]
        while !rest.isEmpty {
            let turn = rest.prefix(atATime)
            rest = rest.dropFirst(atATime)
            found += await withTaskGroup(of: CallbackFacts.self) { group in
                for one in turn { group.addTask { await facts(one, client) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        return found.sorted { $0.service < $1.service }
    }

    private static func facts(_ waiting: WaitingAlarms, _ client: CallbackClient) async -> CallbackFacts {
        let answer = await client.send(CallbackBody.check(of: waiting.service), to: waiting.target, of: waiting.service)
        let problem: String? = if case .failed(let reason) = answer { reason } else { nil }
        return CallbackFacts(
            service: waiting.service.rawValue, url: shown(waiting.target.url), waiting: waiting.count,
            failingSince: waiting.firstTried?.milliseconds, problem: problem)
    }

    /// Scheme, host and port.
    static func shown(_ url: String) -> String {
        guard let colons = url.firstRange(of: "://") else { return "a URL that is none" }
        return String(url[..<colons.upperBound] + url[colons.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }
}
