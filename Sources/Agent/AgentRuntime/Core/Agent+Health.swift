internal import AgentControl
internal import AgentLogic
internal import GNSSFeed
internal import Glibc
internal import TrackCache
internal import TrackModel

// The vehicle's health for its operator, put together from the parts that the shells make.
extension Agent {
    func health() -> HealthReport {
        var report = cache.health
        report.receiver = HealthReport.Receiver(gathering.feedState)
        report.fixAge = gathering.fixAge.map { $0 / 1000 }
        report.isGathering = gathering.isSampling
        report.certificateEnd = link.certificateEnd
        if link.refusedPoints > 0 {
            // The cache's own refusals are losses too.
            let (sum, isTooMany) = report.losses[.refused, default: 0].addingReportingOverflow(link.refusedPoints)
            report.losses[.refused] = isTooMany ? .max : sum
        }
        return report
    }

    /// The same for people on the vehicle, with what the operator would call trouble.
    var healthStatus: HealthStatus {
        let report = health()
        let troubles = TroubleRules().troubles(of: report, silence: link.silence, at: link.believedTime)
        return HealthStatus(report, troubles: troubles, toldTime: link.healthToldTime?.milliseconds)
    }
}

extension HealthStatus {
    init(_ report: HealthReport, troubles: [VehicleTrouble], toldTime: Int64?) {
        let end = report.certificateEnd.map { $0.multipliedReportingOverflow(by: 1000) }
        self.init(
            troubles: troubles.map { Trouble(kind: $0.kind.rawValue, text: "\($0)") },
            backlog: Int64(clamping: report.backlog),
            losses: Dictionary(
                uniqueKeysWithValues: report.losses.map { ($0.key.rawValue, Int64(clamping: $0.value)) }),
            receiver: report.receiver.rawValue, gathering: report.isGathering, disk: report.disk.rawValue,
            certificateEndTime: end.flatMap { $0.overflow ? nil : $0.partialValue }, toldTime: toldTime)
    }
}

extension HealthReport.Receiver {
    init(_ state: FeedState) {
        self =
            switch state {
            case .stopped: .off
            case .connecting: .unknown
            case .unreachable: .unreachable
            case .permissionDenied: .forbidden
            case .noDevice: .away
            case .noFix: .noFix
            case .fix: .fix
            }
    }
}

extension HealthReport.Disk {
    init(_ state: TrackCacheState) {
        self =
            switch state {
            case .disk: .ok
            case .closed: .unknown
            case .memory(let error):
                switch error.number {
                case ENOSPC, EDQUOT: .full
                case EROFS: .readOnly
                default: .refusing
                }
            }
    }
}

extension HealthReport.LossReason {
    /// By the names that the status has.
    init(counted name: String) {
        self =
            switch name {
            case "bound": .bound
            case "memory_full": .memoryFull
            case "disk_hangs": .diskHangs
            case "checksum", "unreadable", "undecodable": .damaged
            case "stream_conflict": .copiedDisk
            case "refused": .refused
            default: .other
            }
    }
}
