internal import LocalFences
internal import TrackModel
internal import TrackWire

/// By which versions of the server's fences the gathered points of an entity were judged: what the link tells the server.
struct JudgedVersions: Hashable {
    let service: Int64
    let entity: String
    /// What the agent has; 0: none.
    let version: UInt64
    let uses: [VersionUse]

    func isOf(_ entity: String, _ service: ServiceID) -> Bool {
        service.rawValue == self.service && ExactName(entity) == ExactName(self.entity)
    }

    /// Those that judged points of a batch.
    func uses(of upload: PreparedUpload) -> [FenceUse] {
        uses.covering(from: upload.firstTime, through: upload.lastTime).map { use in
            var told = FenceUse()
            (told.version, told.after, told.base) = (use.version, use.after.milliseconds, use.base)
            return told
        }
    }
}
