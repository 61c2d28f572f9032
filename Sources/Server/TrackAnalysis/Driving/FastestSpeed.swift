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
