/// Random numbers of a disk: the same seed gives the same disk, on every machine.
package struct DiskDice: RandomNumberGenerator, Sendable {
    private var numbers: SplitMix

    package init(seed: UInt64) {
        numbers = SplitMix(state: seed)
    }

    package mutating func next() -> UInt64 { numbers.next() }

    /// True once in `odds` throws, on average.
    package mutating func one(in odds: Int) -> Bool {
        Int.random(in: 0..<max(odds, 1), using: &self) == 0
    }
}
