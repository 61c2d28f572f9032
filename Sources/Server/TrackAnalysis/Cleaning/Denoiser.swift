internal import Geodesy

/// Drops excursions: samples that the vehicle cannot have reached from the last kept one, unless they persist.
///
/// A jump is not dropped at once. It is held, because the last kept sample may be the wrong one: after a ferry, or when
/// the first fix of the day is the stray. When the held samples last, they are kept, and a kept sample that now stands
/// alone between two jumps is dropped.
package struct Denoiser: TrackStep {
    /// Held samples that are believed when they last ``confirmingSpan``.
    static let confirmations = 6
    /// Milliseconds. At ten samples a second a reflection easily makes six.
    static let confirmingSpan: Int64 = 2000
    /// Milliseconds that are believed with any count.
    static let believedSpan: Int64 = 60_000
    /// Metres from 0° N 0° E within which a sample at exactly that place may be true.
    static let zeroReach = 100_000.0
    /// Samples at exactly 0° N 0° E that are held at the begin of a track, until another place tells whether they are
    /// true.
    static let mostZeros = 1024

    private let rule: JumpRule
    /// The kept sample before `last`, and whether the step between them is a jump.
    private var last: TrackSample?
    private var lastFollowsJump = true
    private var held: [TrackSample] = []
    /// Samples at 0° N 0° E before any other.
    private var zeros: [TrackSample] = []

    /// The cap is in m/s: a step that needs more is a jump.
    package init(speedCap: Double) { rule = JumpRule(speedCap: speedCap) }

    package mutating func add(_ sample: TrackSample, to kept: inout [TrackSample], _ drops: inout DropLedger) {
        let isZero = sample.latitudeE7 == 0 && sample.longitudeE7 == 0
        if isZero, last == nil, zeros.count < Self.mostZeros { return zeros.append(sample) }
        if isZero, let last, last.position.distance(to: sample.position) > Self.zeroReach {
            return drops.drop(sample.index, .zero)
        }
        if let zero = zeros.first {
            let areTrue = isZero || zero.position.distance(to: sample.position) <= Self.zeroReach
            let waiting = zeros
            zeros = []
            for zero in waiting {
                if areTrue { judge(zero, &kept, &drops) } else { drops.drop(zero.index, .zero) }
            }
        }
        judge(sample, &kept, &drops)
    }

    package mutating func finish(to kept: inout [TrackSample], _ drops: inout DropLedger) {
        for zero in zeros { judge(zero, &kept, &drops) }
        zeros = []
        if held.count >= 2 {
            believe(&kept, &drops)
        } else {
            forget(&drops)
        }
        if let last { kept.append(last) }
        last = nil
        lastFollowsJump = true
    }

    private mutating func judge(_ sample: TrackSample, _ kept: inout [TrackSample], _ drops: inout DropLedger) {
        guard let last else { return self.last = sample }
        guard rule.isJump(from: last, to: sample) else {
            forget(&drops)
            return keep(sample, afterJump: false, &kept)
        }
        if let held = held.last, rule.isJump(from: held, to: sample) { forget(&drops) }
        held.append(sample)
        let span = sample.milliseconds(since: held[0])
        if span >= Self.believedSpan || (held.count >= Self.confirmations && span >= Self.confirmingSpan) {
            believe(&kept, &drops)
        }
    }

    private mutating func keep(_ sample: TrackSample, afterJump: Bool, _ kept: inout [TrackSample]) {
        if let last { kept.append(last) }
        last = sample
        lastFollowsJump = afterJump
    }

    private mutating func forget(_ drops: inout DropLedger) {
        for sample in held { drops.drop(sample.index, .excursion) }
        held.removeAll(keepingCapacity: true)
    }

    private mutating func believe(_ kept: inout [TrackSample], _ drops: inout DropLedger) {
        if let last, lastFollowsJump {
            drops.drop(last.index, .excursion)
            self.last = nil
        }
        for (place, sample) in held.enumerated() { keep(sample, afterJump: place == 0, &kept) }
        held.removeAll(keepingCapacity: true)
    }
}
