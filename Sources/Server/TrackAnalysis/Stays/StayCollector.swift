/// Makes stay points of what a ``StayWindow`` tells.
struct StayCollector: StaySink, Sendable {
    private(set) var stays: [StayPoint] = []
    private var firstOfTrack: Int?

    mutating func begin(_ sample: TrackSample) {
        if firstOfTrack == nil { firstOfTrack = sample.index }
    }

    func point(_ stay: StayRun, isOpenAtEnd: Bool) -> StayPoint {
        StayPoint(stay, isOpenAtStart: stay.first.index == firstOfTrack, isOpenAtEnd: isOpenAtEnd)
    }

    mutating func passed(_ sample: TrackSample) {}
    mutating func entered(_ sample: TrackSample) {}
    mutating func strayed(_ sample: TrackSample) {}

    mutating func ended(_ stay: StayRun, isOpen: Bool) { stays.append(point(stay, isOpenAtEnd: isOpen)) }
}
