import Ingest
import Logging
import TrackModel
import TrackStore

/// Why a request has no success.
struct APIFailure: Error, Equatable {
    let status: APIStatus
    /// Names the parameter, its value and the rule; empty when the status says it all.
    let detail: String

    init(_ status: APIStatus, _ detail: String = "") {
        self.status = status
        self.detail = Self.bounded(detail)
    }

    /// Bytes of a detail: it may repeat what a client sent, which may be of any length.
    static let mostDetail = 500

    /// Without control characters, and cut behind ``mostDetail`` bytes.
    private static func bounded(_ detail: String) -> String {
        guard detail.utf8.count > mostDetail || detail.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            return detail
        }
        var (kept, bytes) = ("", 0)
        for scalar in detail.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= mostDetail else { return kept + "…" }
            kept.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? "?" : scalar)
        }
        return kept
    }

    var message: String { detail.isEmpty ? status.message : "\(status.message): \(detail)" }
}

extension APIFailure {
    /// What a call threw, as the API says it. This is the only place that gives a store's error a status.
    ///
    /// Failures that an operator must know are logged.
    init(_ error: any Error, of path: String, in service: ServiceID? = nil, log: RequestLog) {
        switch error {
        case let failure as APIFailure: self = failure
        // The log has the store's reason.
        case IngestFailure.unknownService: self.init(.unknownService)
        case IngestFailure.busy: self.init(.internalError, "the store cannot take points now: try again")
        case IngestFailure.full:
            self.init(.internalError, "the server's disk is full: make room on the server, then try again")
        case IngestFailure.clock:
            self.init(
                .internalError, "the server's clock is wrong, so no points are taken: set it, then send them again")
        case IngestFailure.replaced, IngestFailure.rewound, IngestFailure.failed: self.init(.internalError)
        case let error as TrackStoreError:
            self.init(error, module: path.prefix { $0 != "/" })
            guard status == .internalError else { return }
            log.write(.error, "The store failed a request", of: service, ["reason": "\(error.detail)"])
        default:
            log.write(.error, "A request failed", of: service, ["call": "\(path)", "reason": "\(error)"])
            self.init(.internalError)
        }
    }

    /// `module`: the first part of the call's path.
    private init(_ error: TrackStoreError, module: Substring) {
        let concernsEntities = module == "entity"
        switch error.code {
        case .unknownService: self.init(.unknownService)
        case .entityExists: self.init(.entityExists)
        case .unknownEntity where module == "fence": self.init(.noMonitoredPerson, error.detail)
        case .unknownEntity: self.init(.noEntity)
        case .columnExists: self.init(concernsEntities ? .entityColumnExists : .trackColumnExists)
        // There is no published code for two of these.
        case .unknownColumn where concernsEntities: self.init(.noEntityColumn)
        case .unknownColumn: self.init(.parameter, "column_key: the service has no such track column")
        case .tooManyColumns where concernsEntities:
            self.init(.parameter, "a service has at most \(ColumnRecord.maximumCount) entity columns")
        case .tooManyColumns: self.init(.tooManyTrackColumns)
        case .tooManyPoints: self.init(module == "analysis" ? .tooManyPointsToAnalyse : .tooManyPointsInRange)
        case .tooManyNames where module == "fence": self.init(.parameter, error.detail)
        case .tooManyNames:
            self.init(.parameter, EntityFilter.tooManyNames)
        case .unknownFence: self.init(.noFence)
        case .refusedFence: self.init(.parameter, error.detail)
        case .tooManyFences: self.init(.tooManyFences, error.detail)
        case .unknownExport: self.init(.parameter, "job_id: \(error.detail)")
        case .tooManyExports: self.init(.parameter, error.detail)
        case .tooManyRouteJobs:
            self.init(
                .parameter,
                "the service has \(RouteJobRules.mostUnfinished) jobs for frequent routes that are not done: ask again for this"
                    + " entity_name when one of them is")
        case .serviceExists, .unknownDevice, .deviceExists, .entityTaken, .unknownToken, .tokenExists, .fenceChanged,
            .newerSchema,
            .full, .busy, .outOfTurn,
            .missing, .corrupt, .closed,
            .failed:
            self.init(.internalError)
        }
    }
}
