/// One step of the analysis: samples go in one by one in the order of time, and those that it keeps come out in the
/// same order, some of them later.
///
/// A step knows no chunks. So its output cannot depend on how the track was cut.
package protocol TrackStep: Sendable {
    /// Takes the next sample; appends to `kept` whatever is decided now.
    mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropReasons)
    /// No sample comes any more; appends to `kept` whatever was held.
    mutating func finish(to kept: inout [TrackSample], _ drops: inout DropReasons)
}

extension TrackStep {
    /// Feeds a whole track.
    package static func apply(
        _ step: consuming Self, to samples: some Sequence<TrackSample>, _ drops: inout DropReasons
    ) -> [TrackSample] {
        var kept: [TrackSample] = []
        for sample in samples { step.add(sample, to: &kept, &drops) }
        step.finish(to: &kept, &drops)
        return kept
    }
}

/// Why a point of the raw track is not in the processed one.
package enum DropReason: UInt8, Hashable, Sendable, CaseIterable {
    /// Its radius is over the limit.
    case radius = 1
    /// It stands at exactly 0° N 0° E, where no other point is.
    case zero
    /// The vehicle cannot have been there between the points that are kept.
    case excursion
    /// It is one of many of a stop.
    case stop
    /// It is on the way between its neighbours, at its time.
    case thinned

    /// The word for it in answers.
    package var name: String {
        switch self {
        case .radius: "radius"
        case .zero: "zero"
        case .excursion: "excursion"
        case .stop: "stop"
        case .thinned: "thinned"
        }
    }
}

/// The reason of every dropped point, by the point's index: one byte a point.
package struct DropReasons: Hashable, Sendable {
    private var reasons: [UInt8] = []

    package init() {}

    /// Nil for a point that is kept.
    package subscript(index: Int) -> DropReason? {
        reasons.indices.contains(index) ? DropReason(rawValue: reasons[index]) : nil
    }

    /// How many points each reason dropped; without the reasons that dropped none.
    package var counts: [DropReason: Int] {
        var counts: [DropReason: Int] = [:]
        for reason in reasons.lazy.compactMap(DropReason.init(rawValue:)) { counts[reason, default: 0] += 1 }
        return counts
    }

    /// The dropped points with their reasons, in the order of the track.
    package var dropped: [(index: Int, reason: DropReason)] {
        reasons.enumerated().compactMap { index, code in DropReason(rawValue: code).map { (index, $0) } }
    }

    /// Adds what later steps dropped of the first `count` points.
    package mutating func add(_ other: DropReasons, count: Int) {
        for (index, code) in other.reasons.prefix(count).enumerated() {
            if let reason = DropReason(rawValue: code) { drop(index, reason) }
        }
    }

    /// A point is dropped once; later reasons do not count.
    mutating func drop(_ index: Int, _ reason: DropReason) {
        if index >= reasons.count {
            reasons.append(contentsOf: repeatElement(0, count: index + 1 - reasons.count))
        }
        if reasons[index] == 0 { reasons[index] = reason.rawValue }
    }
}
