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

/// What the Web API says about a request; the raw values are the published codes.
enum APIStatus: Int, Hashable, Sendable, CaseIterable {
    case success = 0
    case internalError = 1
    case parameter = 2
    case method = 3
    case bodyTooLarge = 10
    case keyMissing = 101
    case appCodeMissing = 102
    case keyUnknown = 200
    case keyDisabled = 201
    case address = 210
    case signature = 211
    case referer = 220
    case appCode = 230
    case notAllowed = 240
    case unknownCall = 260
    case dailyQuota = 302
    case concurrencyQuota = 401
    case trackColumnExists = 2001
    case columnReserved = 2002
    case tooManyTrackColumns = 2003
    case noEntity = 3003
    case entityExists = 3005
    case tooManyPointsInRange = 3006
    case notUTF8 = 3007
    case timeInFuture = 3100
    case tooManyPointsUploaded = 3101
    case rangeTooLong = 3200
    case rangeReversed = 3201
    case unknownService = 4005
    case tooManyFences = 5101
    case noMonitoredPerson = 5102
    case notMonitored = 5103
    case noFence = 5104
    case ambiguousDistrict = 5108
    case entityColumnExists = 7001
    case noEntityColumn = 7002
    case tooManyPointsToAnalyse = 9001

    /// The short Chinese text that existing clients show to their users.
    var message: String {
        switch self {
        case .success: "成功"
        case .internalError: "服务器内部错误"
        case .parameter: "参数错误"
        case .method: "http method错误"
        case .bodyTooLarge: "POST数据超过8M限制"
        case .keyMissing: "AK参数不存在"
        case .appCodeMissing: "MCODE参数不存在，mobile类型mcode参数必需"
        case .keyUnknown: "APP不存在，AK有误请检查再重试"
        case .keyDisabled: "APP被用户自己禁用，请在控制台解禁"
        case .address: "APP IP校验失败"
        case .signature: "APP SN校验失败"
        case .referer: "APP Referer校验失败"
        case .appCode: "APP Mcode码校验失败"
        case .notAllowed: "APP 服务被禁用"
        case .unknownCall: "服务不存在"
        case .dailyQuota: "天配额超限，限制访问"
        case .concurrencyQuota: "当前并发量已经超过约定并发配额，限制访问"
        case .trackColumnExists: "track的属性字段已存在"
        case .columnReserved: "属性字段为系统保留字段"
        case .tooManyTrackColumns: "track的属性字段过多"
        case .noEntity: "指定entity不存在"
        case .entityExists: "entity_name已存在"
        case .tooManyPointsInRange: "查询时间段内的轨迹点过多，请缩短查询时间"
        case .notUTF8: "数据必须为UTF-8编码"
        case .timeInFuture: "loc_time不能晚于当前时间10分钟以上"
        case .tooManyPointsUploaded: "单次上传的轨迹点过多"
        case .rangeTooLong: "end_time与start_time间隔不能超过24小时"
        case .rangeReversed: "end_time不能早于start_time"
        case .unknownService: "指定service_id不存在"
        case .tooManyFences: "监控对象的围栏数量超过限制"
        case .noMonitoredPerson: "监控对象不存在"
        case .notMonitored: "监控对象没有该围栏"
        case .noFence: "指定fence_id不存在"
        case .ambiguousDistrict: "关键字匹配到多个行政区"
        case .entityColumnExists: "entity的属性字段已存在"
        case .noEntityColumn: "entity的属性字段不存在"
        case .tooManyPointsToAnalyse: "轨迹点过多，请缩短查询时间"
        }
    }
}
