import TrackModel
import TrackStore

/// The address of an export's file: `/export/TOKEN/SERVICE_JOB.zip`.
struct ExportLink: Hashable, Sendable {
    private static let folder = "/export/"

    let token: String
    /// As the published service names its files.
    let name: String

    init(_ job: ExportRecord) {
        token = job.token
        name = Self.name(of: job) + ".zip"
    }

    /// Nil when the path is no such address. The name in it is for the client alone.
    init?(path: String) {
        guard path.hasPrefix(Self.folder) else { return nil }
        let parts = path.dropFirst(Self.folder.utf8.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, ExportToken.isToken(parts[0]) else { return nil }
        (token, name) = (String(parts[0]), String(parts[1]))
    }

    /// `origin`: scheme, host and port; nil: the client knows them.
    func url(from origin: String?) -> String { "\(origin ?? "")\(Self.folder)\(token)/\(name)" }

    static func name(of job: ExportRecord) -> String { "\(job.service.rawValue)_\(job.number)" }
}
