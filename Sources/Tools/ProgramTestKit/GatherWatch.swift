import Foundation

/// Collects, from the agent's event stream, every point that the agent's ring has stored durably.
package final class GatherWatch: Sendable {
    private let watcher: Program

    package init(_ fleet: Fleet) throws {
        watcher = try Program(Built.path("saker"), ["watch", "--json"], environment: ["SAKER_SOCKET": fleet.socket])
        try waitUntil("the event stream begins", within: 300) { [watcher] in
            try require(watcher.isRunning, "\(watcher.printed)")
            return watcher.printed.contains("\n")
        }
    }

    /// Seconds since 1970 of every point so far. Ignores a line that the agent's kill cut short.
    package func seen() -> Set<Int> {
        var found: Set<Int> = []
        for line in watcher.printed.split(separator: "\n") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                continue
            }
            let event = (object["event"] as? [String: Any]) ?? object
            guard event["kind"] as? String == "gather", let fields = event["fields"] as? [String: Any],
                let time = fields["last_point_time"] as? Int
            else { continue }
            found.insert(time / 1000)
        }
        return found
    }

    package func end() {
        watcher.end(SIGKILL)
    }

    /// Call it after the end of the agent. Reads everything that the agent sent.
    package func last() throws -> Set<Int> {
        try waitUntil("the event stream ends with the agent", within: 300) { !watcher.isRunning }
        end()
        return seen()
    }
}
