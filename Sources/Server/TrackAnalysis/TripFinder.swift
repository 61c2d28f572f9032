/// Makes trips of what a ``StayWindow`` tells.
struct TripCollector: StaySink, Sendable {
    let rule: TripRule
    private(set) var trips: [Trip] = []
    private var start: TrackSample?
    private var last: TrackSample?
    private var length = LengthMeter()
    private var fastest = FastestSpeed()
    private var isFirst = true
    private var isStaying = false

    init(_ rule: TripRule) { self.rule = rule }

    mutating func passed(_ sample: TrackSample) { move(to: sample) }

    mutating func entered(_ sample: TrackSample) {
        if !isStaying {
            move(to: sample)
            close(isOpen: false)
            isStaying = true
        }
        last = sample
    }

    mutating func strayed(_ sample: TrackSample) {}

    mutating func ended(_ stay: StayRun, isOpen: Bool) {
        isStaying = false
        begin(at: stay.last)
    }

    mutating func finish() { close(isOpen: true) }

    private mutating func move(to sample: TrackSample) {
        if let last, sample.milliseconds(since: last) > rule.silence {
            close(isOpen: false)
        }
        if start == nil {
            begin(at: sample)
        } else {
            length.add(sample)
            fastest.add(sample)
            last = sample
        }
        if let speed = sample.shownSpeed, !sample.isInStop { fastest.add(speed) }
    }

    private mutating func begin(at sample: TrackSample) {
        start = sample
        last = sample
        length = LengthMeter()
        length.add(sample)
        fastest = FastestSpeed()
        fastest.add(sample)
    }

    private mutating func close(isOpen: Bool) {
        defer {
            start = nil
            isFirst = false
        }
        guard let start, let last else { return }
        let unrecorded = length.result.total(.straight).metres - length.result.driven
        guard length.result.driven + unrecorded >= rule.leastDistance,
            last.milliseconds(since: start) >= rule.leastDuration
        else { return }
        let seconds = last.seconds(since: start)
        trips.append(
            Trip(
                start: start, end: last, distance: length.result.driven, unrecorded: unrecorded,
                maximumSpeed: fastest.value(average: seconds > 0 ? length.result.driven / seconds * 3.6 : 0),
                isOpenAtStart: isFirst, isOpenAtEnd: isOpen))
    }
}
