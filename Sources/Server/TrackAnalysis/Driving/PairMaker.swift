/// Joins samples to pairs at least 0.95 s apart, each pair beginning where the one before it ends.
struct PairMaker: Sendable {
    /// Whether samples without a plausible speed are left out. Their neighbours may still be close enough.
    let plausibleOnly: Bool
    private var anchor: DrivenSample?

    init(plausibleOnly: Bool) { self.plausibleOnly = plausibleOnly }

    /// Takes the next sample; returns the pair that it ends.
    mutating func add(_ sample: DrivenSample) -> SpeedPair? {
        if plausibleOnly, sample.plausibleSpeed == nil { return nil }
        guard let anchor else {
            self.anchor = sample
            return nil
        }
        let pair = SpeedPair(start: anchor, end: sample)
        guard pair.milliseconds >= SpeedPair.shortest else { return nil }
        self.anchor = sample
        return pair
    }
}
