import TrackAnalysis
import TrackModel
import TrackStore

/// Which point of an entity is shown as its latest.
struct LatestReading: Sendable {
    let point: TrackPoint
    /// How the entity travels at the point; nil when the client has said how it travels.
    let travel: TravelKind?
    /// Why later points are not shown, in the order of the track.
    let dropped: [(point: TrackPoint, reason: DropReason)]
}

extension LatestReading {
    /// Milliseconds before the latest point that are read to judge it: ten minutes, and a day when nothing in them passes.
    private static let tails: [Int64] = [600_000, 86_400_000]
    /// Points of one tail. The operator's limits are those of a range that the client has chosen: here it has chosen none.
    private static let mostPoints = 200_000
    /// Points that are judged, however old they are, when nothing of the last day passes.
    private static let lastPoints = 200

    /// The newest point that the cleaning keeps. It is sought in the last day and in the last 200 points; where it keeps
    /// nothing, the newest of all is shown.
    init(
        of name: String, latest: TrackPoint, _ option: ProcessOption, _ call: APICall, _ store: any PointStore
    ) async throws {
        guard option.cleaning(call.options.analysis) != CleaningOptions() else {
            self.init(latest, option, call)
            return
        }
        for span in Self.tails {
            let range = TrackRange(
                service: call.service, entity: ExactName(name), from: latest.fix.time.adding(milliseconds: -span),
                through: latest.fix.time)
            let tail: [TrackPoint]
            do {
                tail = try await range.readOnce(call, store, limit: Self.mostPoints).points.map(\.point)
            } catch let error as TrackStoreError where error.code == .tooManyPoints {
                self.init(latest, option, call)
                return
            }
            if let reading = LatestReading(tail, upTo: latest, option, call) {
                self = reading
                return
            }
            if span == Self.tails.last, tail.count >= Self.lastPoints {
                self.init(latest, option, call)
                return
            }
        }
        let track = try await store.lastPoints(of: name, in: call.service, count: Self.lastPoints)
        call.note(track.holes)
        let last = track.points.map(\.point).filter { $0.fix.time <= latest.fix.time }
        self = LatestReading(last, upTo: latest, option, call) ?? LatestReading(latest, option, call)
    }

    /// The newest point, unjudged.
    private init(_ latest: TrackPoint, _ option: ProcessOption, _ call: APICall) {
        let columns = TrackColumns([latest])
        point = latest
        travel = option.kinds(of: [columns.sample(at: 0, index: 0)], call.options.analysis)?.last
        dropped = []
    }

    /// Nil when the cleaning keeps no point of the tail. The latest point may have been told ahead of its track.
    private init?(_ tail: [TrackPoint], upTo latest: TrackPoint, _ option: ProcessOption, _ call: APICall) {
        let tail = tail.last?.fix.time == latest.fix.time ? tail : tail + [latest]
        let columns = TrackColumns(tail)
        let cleaning = option.cleaning(call.options.analysis)
        var options = cleaning
        options.collapsesStops = false
        let (samples, drops) = TrackCleaner.clean(columns, options)
        guard !samples.isEmpty,
            let shown = LatestPoint.index(in: columns, options, now: call.now.milliseconds)
        else { return nil }
        var track = samples.filter { $0.index <= shown }
        if track.last?.index != shown { track.append(columns.sample(at: shown, index: shown)) }
        var ignored = DropLedger()
        if cleaning.collapsesStops { track = StopCollapse.apply(StopCollapse(), to: track, &ignored) }
        point = tail[shown]
        travel = option.kinds(of: track, call.options.analysis)?.last
        dropped = drops.dropped.filter { $0.index > shown }.map { (tail[$0.index], $0.reason) }
    }
}
