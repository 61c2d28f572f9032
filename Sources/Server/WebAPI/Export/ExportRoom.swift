import TrackModel
import TrackStore

/// What files of exports take on the server's disk, and what they may take. Files are kept for their time, so a new job waits
/// until there is room for its file.
struct ExportRoom: Sendable {
    /// Of a file that nobody can know yet.
    private static let leastEstimate: Int64 = 1 << 20

    private let options: WebAPIOptions
    /// Of the service, done and not done.
    private let jobs: [ExportRecord]
    private let uses: [ServiceID: ExportUse]

    init(_ call: APICall, _ store: any ExportStore) async throws {
        options = call.options
        jobs = try await store.exports(
            in: call.service, doneSince: call.now.adding(milliseconds: -ExportRules.kept))
        uses = try await store.exportUses()
    }

    /// Throws when another file has no room.
    func check() throws(APIFailure) {
        let sizes = jobs.compactMap { $0.result?.bytes }
        guard sizes.count < ExportRules.mostDone else {
            throw Self.failure(
                "the service has \(sizes.count) finished exports, and \(ExportRules.mostDone) are the most")
        }
        // Those under way and the new one may become as long as the longest.
        let unfinished = Int64(jobs.count - sizes.count + 1)
        let expected = unfinished * max(Self.leastEstimate, sizes.max() ?? 0)
        let own = sizes.reduce(0, +)
        guard own + expected <= options.exportServiceBytes else {
            throw Self.failure(
                "the files of the service's exports take \(own) bytes, \(unfinished) more are expected to take \(expected), and"
                    + " \(options.exportServiceBytes) are the most (service_limit of [exports])")
        }
        let all = uses.values.reduce(0) { $0 + $1.bytes }
        guard all + expected <= options.exportBytes else {
            throw Self.failure(
                "the files of all exports of this server take \(all) bytes, and \(options.exportBytes) are the most"
                    + " (limit of [exports])")
        }
    }

    private static func failure(_ reason: String) -> APIFailure {
        APIFailure(
            .parameter,
            "\(reason): remove exports with export/deletejob, wait until the oldest have been there for 48 hours, or ask the"
                + " operator")
    }
}
