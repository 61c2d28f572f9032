internal import Geodesy

/// Finds the places at which a vehicle stayed; silence at one place belongs to the stay.
///
/// A stay is a stretch of samples that fit a circle, single strays aside. Of stretches that overlap, the longest is a stay.
package enum StayFinder {
    /// The stays of a whole denoised track, in their order.
    package static func stays(_ rule: StayRule, in samples: [TrackSample]) -> [StayPoint] {
        let search = StaySearch(samples, rule)
        return search.places().compactMap { place in
            var run = StayRun(first: samples[place.first])
            var sum = EarthVector.zero
            for number in place.first...place.last where search.isInside(number, place) {
                run.extend(by: samples[number])
                // A sum of small numbers keeps its digits.
                sum += samples[number].position - place.center
            }
            guard run.last.milliseconds(since: run.first) >= rule.span else { return nil }
            run.mean = place.center + sum * (1 / Double(max(run.count, 1)))
            // A last sample that is outside alone may be a stray.
            return StayPoint(
                run, isOpenAtStart: place.first == 0, isOpenAtEnd: place.last >= samples.count - 2)
        }
    }
}
