import Foundation

/// The error of a test that met something wrong, as a sentence.
package struct Trouble: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// Throws the expectation when the condition does not hold.
package func require(_ condition: Bool, _ expectation: @autoclosure () -> String) throws {
    if !condition { throw Trouble(expectation()) }
}

/// The value; throws the expectation when it is nil.
package func require<Value>(_ value: Value?, _ expectation: @autoclosure () -> String) throws -> Value {
    guard let value else { throw Trouble(expectation()) }
    return value
}

/// Checks a condition every few milliseconds until it holds. It polls because the condition depends on another process.
/// Throws `what` after the deadline.
package func waitUntil(_ what: String, within seconds: Double, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try !condition() {
        guard ContinuousClock.now < deadline else {
            throw Trouble("after \(seconds) s still waiting: \(what)")
        }
        pause(milliseconds: 20)
    }
}

/// Lets real time pass, for tests that are about time.
package func pause(milliseconds: Int) {
    var rest = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    var left = timespec()
    while nanosleep(&rest, &left) != 0, errno == EINTR { rest = left }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers everywhere for the same seed.
package struct Dice: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// Fresh seeds on every run; whatever fails prints its own.
    package static func seeds(_ count: Int) -> [UInt64] { (0..<count).map { _ in UInt64.random(in: 0 ... .max) } }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True once in `odds` throws, on average.
    package mutating func one(in odds: Int) -> Bool { Int.random(in: 0..<max(odds, 1), using: &self) == 0 }
}

/// Whether two numbers differ by at most the tolerance. False when one of them is no number.
package func near(_ left: Double, _ right: Double, _ tolerance: Double) -> Bool {
    (left - right).magnitude <= tolerance
}
