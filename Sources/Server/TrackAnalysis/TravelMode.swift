/// How the entity travels, as its client says.
package enum TravelMode: Hashable, Sendable, CaseIterable {
    case automatic
    case driving
    case riding
    case walking

    /// Not somebody who walks or rides a bicycle, as the client says.
    package var isVehicle: Bool { self == .automatic || self == .driving }

    /// m/s above which a step between two points is no movement. `driving` is the cap of a vehicle, which is a setting.
    package func speedCap(driving: Double) -> Double {
        switch self {
        case .automatic, .driving: driving
        case .riding: 60 / 3.6
        case .walking: 20 / 3.6
        }
    }
}

/// How the entity travelled at one sample.
package enum TravelKind: Hashable, Sendable, CaseIterable {
    case standing
    case walking
    case riding
    case driving

    /// km/h that nearly all samples of a walk, or of a ride, are below.
    static let walk = 9.0
    static let ride = 30.0
    /// The share of the samples between two stops that may be faster.
    static let faster = 0.05

    /// One for each sample of the cleaned track.
    ///
    /// A sample in a stop stands. The others drive: a box in a vehicle neither walks nor rides. With `detecting`, what
    /// lies between two stops is a walk or a ride when 95 % of its samples are slow enough. Speeds are those uploaded,
    /// else those of the way from the sample before.
    package static func kinds(of samples: [TrackSample], detecting: Bool) -> [TravelKind] {
        var kinds = samples.map(kind(of:))
        guard detecting else { return kinds }
        var start = 0
        while start < kinds.count {
            guard kinds[start] != .standing else {
                start += 1
                continue
            }
            let end = kinds[start...].firstIndex(of: .standing) ?? kinds.count
            let kind = kind(of: start..<end, in: samples)
            for position in start..<end { kinds[position] = kind }
            start = end
        }
        return kinds
    }

    /// Of one sample of the cleaned track, when walks and rides are not told apart.
    package static func kind(of sample: TrackSample) -> TravelKind {
        sample.isInStop || sample.isParked ? .standing : .driving
    }

    private static func kind(of range: Range<Int>, in samples: [TrackSample]) -> TravelKind {
        var (known, aboveWalk, aboveRide) = (0, 0, 0)
        for position in range {
            guard let speed = speed(at: position, from: range.lowerBound, in: samples) else { continue }
            known += 1
            if speed >= walk { aboveWalk += 1 }
            if speed >= ride { aboveRide += 1 }
        }
        guard known > 0 else { return .driving }
        let few = Double(known) * faster
        return Double(aboveWalk) <= few ? .walking : Double(aboveRide) <= few ? .riding : .driving
    }

    /// km/h; nil when nothing tells it.
    private static func speed(at position: Int, from first: Int, in samples: [TrackSample]) -> Double? {
        if let speed = samples[position].shownSpeed { return speed }
        guard position > first else { return nil }
        let seconds = samples[position].seconds(since: samples[position - 1])
        return seconds > 0 ? samples[position].distance(to: samples[position - 1]) / seconds * 3.6 : nil
    }
}
