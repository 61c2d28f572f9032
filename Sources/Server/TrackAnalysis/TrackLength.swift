/// The length of a track: between neighbours, and apart from it across interruptions.
///
/// How an interruption counts is decided afterwards. So one reading of a track answers every supplement mode.
package struct TrackLength: Hashable, Sendable {
    /// km/h.
    private let threshold: Double?
    /// Metres between neighbours that are no interruption.
    package private(set) var driven = 0.0
    /// The part of ``driven`` below the threshold, metres.
    private var slow = 0.0
    package private(set) var interruptions: [Interruption] = []
    /// Neighbours between which the vehicle cannot have driven. What lies between them counts in no distance.
    package private(set) var breaks = 0

    init(threshold: Double?) { self.threshold = threshold }

    /// Adds the way between neighbours; the speed is that which was uploaded, km/h.
    mutating func add(_ metres: Double, seconds: Double, speed: Double?) {
        driven += metres
        if let threshold, (speed ?? Self.speed(metres, seconds)) < threshold { slow += metres }
    }

    mutating func addBreak() { breaks += 1 }

    mutating func add(_ interruption: Interruption) { interruptions.append(interruption) }

    /// Metres of the whole track, and the part of it below the threshold.
    package func total(_ supplement: Supplement) -> (metres: Double, slow: Double) {
        var (metres, slow) = (driven, slow)
        for (position, interruption) in interruptions.enumerated() {
            guard let length = supplement.length(of: interruption, at: position) else { continue }
            metres += length
            // The uploaded speed of the end says nothing of the way: only the way's own speed does.
            if let threshold, Self.speed(length, interruption.seconds) < threshold { slow += length }
        }
        return (metres, slow)
    }

    /// km/h.
    private static func speed(_ metres: Double, _ seconds: Double) -> Double {
        seconds > 0 ? metres / seconds * 3.6 : 0
    }
}

/// Adds up the length of a track.
package struct LengthMeter: Hashable, Sendable {
    private var length: TrackLength
    private var previous: TrackSample?

    /// The threshold is in km/h; nil when nobody asks for the distance below it.
    package init(slowBelow threshold: Double? = nil) { length = TrackLength(threshold: threshold) }

    /// The track so far.
    package var result: TrackLength { length }

    /// Takes the next sample. `path` is the length of the way from the sample before it, metres, when it is known
    /// better than by the straight line.
    package mutating func add(_ sample: TrackSample, path: Double? = nil) {
        defer { previous = sample }
        guard let previous else { return }
        guard !sample.followsBreak else { return length.addBreak() }
        let metres = path ?? previous.distance(to: sample)
        if sample.milliseconds(since: previous) >= Interruption.span {
            length.add(Interruption(start: previous, end: sample, straight: metres))
        } else {
            length.add(metres, seconds: sample.seconds(since: previous), speed: sample.shownSpeed)
        }
    }

    /// Takes the next points of a track that is not cleaned; `index`: of the first of them in the track.
    package mutating func add(_ columns: TrackColumns, from index: Int) {
        for position in 0..<columns.count { add(columns.sample(at: position, index: index + position)) }
    }

    /// The length of a whole track.
    package static func length(
        of samples: some Sequence<TrackSample>, slowBelow threshold: Double? = nil
    ) -> TrackLength {
        var meter = LengthMeter(slowBelow: threshold)
        for sample in samples { meter.add(sample) }
        return meter.result
    }
}

/// Two neighbours of a track with five minutes or more between them.
package struct Interruption: Hashable, Sendable {
    package let start: TrackSample
    package let end: TrackSample
    /// Metres of the straight line along the ground.
    package let straight: Double

    /// Milliseconds between neighbours that are an interruption.
    package static let span: Int64 = 300_000

    /// Seconds.
    package var seconds: Double { end.seconds(since: start) }
}

/// How interruptions count in a distance.
package enum Supplement: Hashable, Sendable {
    /// Not at all.
    case none
    /// As the straight line.
    case straight
    /// As the length of a route, metres, in the order of the interruptions; where there is none, as the straight line
    /// times the factor.
    case routes([Double?], factor: Double)

    func length(of interruption: Interruption, at position: Int) -> Double? {
        switch self {
        case .none: nil
        case .straight: interruption.straight
        case .routes(let routes, let factor):
            (position < routes.count ? routes[position] : nil) ?? interruption.straight * factor
        }
    }
}

/// The greatest speed of a track: as uploaded where that is known, else as the places tell.
struct FastestSpeed: Sendable {
    /// Milliseconds over which places tell a speed: over less, their error would.
    static let span: Int64 = 3000
    /// Times the greatest speed that the average may be by the errors of places alone.
    static let inexact = 1.01

    /// km/h, as uploaded.
    private var uploaded: Double?
    /// km/h between places: of the whole track, and where no speed was uploaded.
    private var moved: Double?
    private var movedWithoutSpeed: Double?
    private var anchor: TrackSample?
    private var hasNoUploadedSpeed = true

    /// Takes a speed that was uploaded and is plausible, km/h.
    mutating func add(_ speed: Double) { uploaded = max(uploaded ?? 0, speed) }

    /// Takes the next place of the cleaned track.
    mutating func add(_ sample: TrackSample) {
        let hasUploadedSpeed = sample.speed != nil && !sample.isInStop
        if hasUploadedSpeed { hasNoUploadedSpeed = false }
        guard let start = anchor, !sample.followsBreak else {
            (anchor, hasNoUploadedSpeed) = (sample, !hasUploadedSpeed)
            return
        }
        guard sample.milliseconds(since: start) >= Self.span else { return }
        let speed = start.distance(to: sample) / sample.seconds(since: start) * 3.6
        moved = max(moved ?? 0, speed)
        if hasNoUploadedSpeed { movedWithoutSpeed = max(movedWithoutSpeed ?? 0, speed) }
        (anchor, hasNoUploadedSpeed) = (sample, !hasUploadedSpeed)
    }

    /// km/h, and never less than the average; nil when nothing tells a speed.
    func value(average: Double) -> Double? {
        guard let known = uploaded.map({ max($0, movedWithoutSpeed ?? 0) }) ?? moved else {
            return average > 0 ? average : nil
        }
        return average > known * Self.inexact ? average : known
    }
}
