import Testing

@testable import FleetSimulation

@Suite struct LatencyHistogramTests {
    @Test func quantilesAreWithinAStepOfTheTruth() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededNumbers(state: seed)
        var histogram = LatencyHistogram()
        var values: [UInt64] = []
        for _ in 0..<10_000 {
            let value = generator.next() >> UInt64.random(in: 24...63, using: &generator)
            values.append(value)
            histogram.add(value)
        }
        values.sort()
        for share in [0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1] {
            let truth = values[min(values.count - 1, max(0, Int((share * 10_000).rounded(.up)) - 1))]
            let told = histogram.quantile(share)
            #expect(told >= truth && Double(told) <= Double(truth) * 1.04, "seed \(seed), share \(share)")
        }
        #expect(histogram.maximum == values.last)
        #expect(histogram.quantile(1) == histogram.maximum)
    }

    @Test func everyMagnitudeHasAPlace() {
        var histogram = LatencyHistogram()
        for shift in 0..<64 { histogram.add(1 << UInt64(shift)) }
        histogram.add(.max)
        histogram.add(0)
        #expect(histogram.count == 66)
        #expect(histogram.quantile(1) == .max)
        #expect(histogram.quantile(0) == 0)
    }

    @Test func mergingIsAddingBoth() {
        var (one, other, both) = (LatencyHistogram(), LatencyHistogram(), LatencyHistogram())
        for value: UInt64 in 1...500 {
            value.isMultiple(of: 3) ? one.add(value) : other.add(value)
            both.add(value)
        }
        one.merge(other)
        #expect(one.count == both.count)
        #expect([0.1, 0.5, 0.99].allSatisfy { one.quantile($0) == both.quantile($0) })
    }

    @Test func nothingHasNoLatency() {
        #expect(LatencyHistogram().quantile(0.99) == 0)
    }
}

private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
