/// Which point of a track's end is shown as the latest.
package enum LatestPoint {
    /// Milliseconds after which a jump at the very end is shown although no later point confirms it.
    package static let undecided: Int64 = 60_000

    /// The index of the point to show, nil for an empty tail.
    ///
    /// It is the last point that cleaning keeps. A jump at the end is undecided: it is shown when the next point confirms
    /// it, or when it is over a minute old and nothing came after it. When nothing is kept, the newest point is shown. `now` is in milliseconds
    /// since 1970.
    package static func index(in tail: TrackColumns, _ options: CleaningOptions, now: Int64) -> Int? {
        guard tail.count > 0 else { return nil }
        var options = options
        options.collapsesStops = false
        let (kept, drops) = TrackCleaner.clean(tail, options)
        guard let last = kept.last else { return tail.count - 1 }
        let newest = (last.index..<tail.count).last { drops[$0] == nil || drops[$0] == .excursion } ?? last.index
        guard drops[newest] == .excursion else { return last.index }
        if let cap = options.speedCap, let before = (last.index + 1..<newest).last(where: { drops[$0] == .excursion }) {
            let rule = LinkRule(speedCap: cap)
            let step = LinkRule.Step(
                from: tail.sample(at: before, index: before), to: tail.sample(at: newest, index: newest))
            if rule.agrees(step) ?? (rule.isBelowCap(step) && rule.spans(step, pace: 0)) { return newest }
        }
        let age = tail.sample(at: newest, index: newest).age(at: now)
        return age > undecided ? newest : last.index
    }
}
