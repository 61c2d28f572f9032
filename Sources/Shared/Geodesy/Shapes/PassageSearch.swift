/// Finds the inside parts of a way from signed distances alone, for shapes whose boundary has no simple formula.
///
/// Between two places the signed distance changes by no more than the way's length. So a piece of the way whose ends are
/// far enough outside, or inside, is wholly so; other pieces are halved.
struct PassageSearch {
    /// Metres: shorter pieces are not halved any more. A shorter visit may be missed; no visit is made up.
    private static let shortest = 0.25
    private static let mostEvaluations = 4000

    private let length: Double
    private let signedDistance: (Double) -> Double
    private var evaluations = 0
    private var crossings: [Double] = []

    private init(length: Double, signedDistance: @escaping (Double) -> Double) {
        self.length = length
        self.signedDistance = signedDistance
    }

    /// `signedDistance` gives metres at a share of the way, negative inside; `length` is at least the way's length.
    static func parts(length: Double, signedDistance: (Double) -> Double) -> [ClosedRange<Double>] {
        withoutActuallyEscaping(signedDistance) { signed in
            var search = PassageSearch(length: length, signedDistance: signed)
            let (start, end) = (signed(0), signed(1))
            search.look(0, start, 1, end)
            return search.parts(startsInside: start <= 0)
        }
    }

    private mutating func look(_ low: Double, _ lowValue: Double, _ high: Double, _ highValue: Double) {
        let span = (high - low) * length
        let sameSide = (lowValue <= 0) == (highValue <= 0)
        // The slack covers the errors of the distances.
        if sameSide, lowValue.magnitude + highValue.magnitude > span + 0.1 { return }
        if span <= Self.shortest || evaluations >= Self.mostEvaluations {
            if !sameSide {
                crossings.append(Self.root(low, lowValue, high, highValue, of: signedDistance))
            }
            return
        }
        evaluations += 1
        let middle = (low + high) / 2
        let value = signedDistance(middle)
        look(low, lowValue, middle, value)
        look(middle, value, high, highValue)
    }

    private func parts(startsInside: Bool) -> [ClosedRange<Double>] {
        var parts: [ClosedRange<Double>] = []
        var entry: Double? = startsInside ? 0 : nil
        for crossing in crossings {
            if let begun = entry {
                if crossing > begun { parts.append(begun...crossing) }
                entry = nil
            } else {
                entry = crossing
            }
        }
        if let begun = entry, begun < 1 { parts.append(begun...1) }
        return parts
    }

    /// Where a function changes its sign between two places, by false position (the Illinois variant).
    static func root(
        _ low: Double, _ lowValue: Double, _ high: Double, _ highValue: Double, of function: (Double) -> Double
    ) -> Double {
        var (low, lowValue, high, highValue) = (low, lowValue, high, highValue)
        var lastSide = 0
        for _ in 0..<60 where high - low > 1e-13 {
            guard lowValue != highValue else { break }
            let guess = min(max((low * highValue - high * lowValue) / (highValue - lowValue), low), high)
            let value = function(guess)
            if value.magnitude < 1e-7 { return guess }
            if (value <= 0) == (lowValue <= 0) {
                (low, lowValue) = (guess, value)
                if lastSide == -1 { highValue /= 2 }
                lastSide = -1
            } else {
                (high, highValue) = (guess, value)
                if lastSide == 1 { lowValue /= 2 }
                lastSide = 1
            }
        }
        return (low + high) / 2
    }
}
