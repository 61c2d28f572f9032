/// Random numbers that a printed seed repeats (xorshift64*, Vigna 2014).
struct TestGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed | 1 }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    /// A seed that differs from run to run, printed so that a failure can be repeated.
    static func printedSeed(_ name: String = #function) -> UInt64 {
        let seed = UInt64.random(in: 1...UInt64(UInt32.max))
        print("\(name): seed \(seed)")
        return seed
    }
}
