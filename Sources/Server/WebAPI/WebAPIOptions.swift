package import TrackStore

/// What an operator may choose about the API.
package struct WebAPIOptions: Sendable {
    /// Minutes east of UTC of the formatted times in answers, -1439...1439.
    package var zoneMinutes: Int
    /// Status of a list that matches nothing; the published service says 3003, some clients expect 0.
    package var emptyListStatus: EmptyListStatus
    /// True: a call made with another method than the documented one gets status 3.
    package var strictMethods: Bool
    /// Seconds that a point may be ahead of the server's clock.
    package var futureTolerance: Int64
    /// Seconds that a point may be old when it is uploaded; nil for any age.
    package var maximumAge: Int64?
    /// Points of one entity in the range of one unprocessed query.
    package var maximumRawPoints: Int
    /// Points of one entity in the range of one processed query.
    package var maximumProcessedPoints: Int
    /// The same for a query of a range of any length, where it is more.
    var maximumLongPoints = Self.mostLongPoints
    /// A month of a point every five seconds, day and night, and some more. A reading of so many takes up to 80 MB.
    static let mostLongPoints = 600_000

    /// Requests of one key in a day, and at the same time; nil for any number.
    package var dailyQuota: Int?
    package var concurrentRequests: Int?

    /// How `fence/list` writes the vertices of a fence, where the service does not say it.
    package var fenceVertices: FenceVertices
    /// The status of `entity/delete` for an entity that is not there, where the service does not say it.
    package var unknownEntity: UnknownEntityStatus

    /// Seconds that the end of an export's range must be past.
    package var exportAge: Int64
    /// Bytes of the files of a service's exports, and of all services'.
    package var exportServiceBytes: Int64
    package var exportBytes: Int64
    /// The file of an export needs a key beside its address.
    package var exportsNeedKey: Bool
    /// Times of export jobs are 14 digits, without signs between them.
    package var hasExportTimesAsDigits: Bool
    /// Scheme, host and port in links to this server; nil: as the client reached it.
    package var publicOrigin: String?
    /// Whoever shows matched tracks names this source; empty for none.
    package var roadAttribution: String
    /// Points of matched tracks say how important their road is.
    package var showsRoadGrades: Bool

    package var analysis: AnalysisOptions

    package typealias FenceVertices = VertexForm

    package enum EmptyListStatus: String, Sendable, CaseIterable {
        case notFound = "3003"
        case success = "0"
    }

    package init(
        zoneMinutes: Int = 480, emptyListStatus: EmptyListStatus = .notFound, strictMethods: Bool = false,
        futureTolerance: Int64 = 600, maximumAge: Int64? = nil, maximumRawPoints: Int = 200_000,
        maximumProcessedPoints: Int = 20_000, dailyQuota: Int? = nil, concurrentRequests: Int? = nil,
        fenceVertices: FenceVertices = .objects, unknownEntity: UnknownEntityStatus = .notFound,
        exportAge: Int64 = 6 * 3600, exportServiceBytes: Int64 = 1 << 30, exportBytes: Int64 = 4 << 30,
        exportsNeedKey: Bool = true, hasExportTimesAsDigits: Bool = false,
        publicOrigin: String? = nil,
        roadAttribution: String = "© OpenStreetMap contributors", showsRoadGrades: Bool = true,
        analysis: AnalysisOptions = AnalysisOptions()
    ) {
        self.zoneMinutes = zoneMinutes
        self.emptyListStatus = emptyListStatus
        self.strictMethods = strictMethods
        self.futureTolerance = futureTolerance
        self.maximumAge = maximumAge
        self.maximumRawPoints = maximumRawPoints
        self.maximumProcessedPoints = maximumProcessedPoints
        self.dailyQuota = dailyQuota
        self.concurrentRequests = concurrentRequests
        self.fenceVertices = fenceVertices
        self.unknownEntity = unknownEntity
        self.exportAge = exportAge
        (self.exportServiceBytes, self.exportBytes) = (exportServiceBytes, exportBytes)
        self.exportsNeedKey = exportsNeedKey
        self.hasExportTimesAsDigits = hasExportTimesAsDigits
        self.publicOrigin = publicOrigin
        self.roadAttribution = roadAttribution
        self.showsRoadGrades = showsRoadGrades
        self.analysis = analysis
    }
}

/// What an operator may choose about what is computed from tracks.
package struct AnalysisOptions: Hashable, Sendable {
    /// km/h that nothing in the fleet reaches: a step that is faster is no movement. 20...1200, up to which aircraft fly.
    package var speedCap: Double
    /// The server tells walks and rides from drives also when the client does not ask for it.
    package var detectsTravel: Bool
    /// What the straight line across an interruption is multiplied with where a route was asked for and none is known,
    /// 1...5.
    package var supplementFactor: Double
    /// Bytes of tracks that are kept in memory, 0 or more, for the calls that ask for the same ones.
    package var keptBytes: Int

    package init(
        speedCap: Double = 200, detectsTravel: Bool = false, supplementFactor: Double = 1, keptBytes: Int = 64 << 20
    ) {
        self.speedCap = speedCap
        self.detectsTravel = detectsTravel
        self.supplementFactor = supplementFactor
        self.keptBytes = keptBytes
    }

    /// ``speedCap`` in m/s.
    var metresASecond: Double { speedCap / 3.6 }
}
