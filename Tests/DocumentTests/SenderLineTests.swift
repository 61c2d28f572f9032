import Foundation
import Testing

/// Every line of the log that a sender can cause has a budget. A line that is written without one is in this list, with the reason
/// why nobody outside can repeat it; a further one needs a budget (`SenderLog`, `LineBudget`), or a place here.
@Suite struct SenderLineTests {
    private static let rooms = ["Gateway", "Ingest", "RoadEngine", "ServerRuntime", "WebAPI"]

    /// Lines of a file that have no budget, and why.
    private static let free: [String: (count: Int, why: String)] = [
        "Gateway/StoreChangeFeed.swift": (
            4, "an operator has changed a key or a device or has deleted a service, or the store begins to fail"
        ),
        "Gateway/Connection/SessionJournal.swift": (2, "it is the budget; what was left out is said once a minute"),
        "Gateway/GatewayServer.swift": (2, "the server starts or stops"),
        "Gateway/HealthReportWriter.swift": (1, "the store begins to fail"),
        "Gateway/Pushes/PushOutcomeWriter.swift": (2, "the store fails; once a second at most"),
        "Ingest/ClockGuard.swift": (2, "the server's clock is wrong, or right again"),
        "Ingest/Fences/IngestFenceJudge+Output.swift": (2, "both have a budget"),
        "Ingest/Fences/IngestFenceJudge.swift": (
            6, "the store is damaged; once for each fence, service or entity that is read"
        ),
        "Ingest/IngestWriter+Groups.swift": (1, "the server starts"),
        "Ingest/IngestWriter.swift": (4, "the store fails, at most once for each wait between two tries"),
        "RoadEngine/RoadClient.swift": (2, "the road engine begins to fail, or works again"),
        "ServerRuntime/Enrolment/EnrolmentJournal.swift": (
            4, "each has a budget; what was left out is said once a minute"
        ),
        "ServerRuntime/Jobs/Exporting.swift": (3, "the disk or the store fails; once a minute at most"),
        "ServerRuntime/Jobs/RouteComputing.swift": (4, "the store fails; once a minute at most"),
        "ServerRuntime/Metrics/ServerFigures.swift": (2, "the server starts, or the address is taken"),
        "ServerRuntime/Serving/Readiness.swift": (3, "the server starts or stops"),
        "ServerRuntime/Serving/Reloading.swift": (4, "an operator has changed the configuration or the certificates"),
        "ServerRuntime/Serving/ServerRuntime+Warnings.swift": (5, "the server starts"),
        "ServerRuntime/Serving/ServerRuntime.swift": (4, "the server starts or stops"),
        "ServerRuntime/Serving/Cleanup.swift": (
            12, "once for each run, day, copy of the store, try at a renewal, and service that an operator has deleted"
        ),
        "ServerRuntime/Serving/Watchdog.swift": (2, "the store stops answering, or answers again"),
        "WebAPI/Request/RequestLog.swift": (1, "it is the budget of the clients of a service"),
    ]

    @Test func aLineThatASenderCausesHasABudget() throws {
        let call = try Regex(#"logger\.(trace|debug|info|notice|warning|error|critical|log)\("#)
        var found: [String: Int] = [:]
        for room in Self.rooms {
            let folder = "\(Repository.root)/Sources/Server/\(room)"
            let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
            for file in files where file.hasSuffix(".swift") {
                let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                let count = text.matches(of: call).count
                if count > 0 { found["\(room)/\(file)"] = count }
            }
        }
        #expect(!found.isEmpty)
        for (file, count) in found {
            #expect(
                count == Self.free[file]?.count ?? 0,
                "\(file) writes \(count) lines of the log: give a line that senders cause a budget, or say here why it needs none"
            )
        }
        for file in Self.free.keys {
            #expect(found[file] != nil, "\(file) writes no line any more: take it out of the list")
        }
    }
}
