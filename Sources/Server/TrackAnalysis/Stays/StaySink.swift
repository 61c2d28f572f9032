/// Who is told what a ``StayWindow`` decides. Each sample is told once, in the order of the track, except that strays
/// are told when the next sample inside shows that they are strays.
protocol StaySink {
    /// The sample belongs to no stay.
    mutating func passed(_ sample: TrackSample)
    /// The sample is inside the stay that is open.
    mutating func entered(_ sample: TrackSample)
    /// The sample is outside for a moment, between samples inside.
    mutating func strayed(_ sample: TrackSample)
    /// The open stay has ended with the last sample that entered; or the track has, when `isOpen`.
    mutating func ended(_ stay: StayRun, isOpen: Bool)
}
