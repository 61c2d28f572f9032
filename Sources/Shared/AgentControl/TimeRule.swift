/// Times of the control interface are milliseconds since 1970. A program that gives seconds means a time in January 1970, when
/// no satellite sent a time.
package enum TimeRule {
    /// Milliseconds: 1980-01-01, the year in which GPS time begins.
    private static let first: Int64 = 315_532_800_000

    /// Nil when a point can be of this time; otherwise the end of a sentence that begins with the value.
    package static func problem(with time: Int64) -> String? {
        guard time < first else { return nil }
        return looksLikeSeconds(time)
            ? "looks like seconds; milliseconds are wanted: \(time * 1000)"
            : "lies before 1980, and no point is so old: times are milliseconds since 1970"
    }

    /// Of the bound of a range: nil when it can be meant so. 0 and other early times stand for the beginning.
    static func problem(withBound time: Int64?) -> String? {
        guard let time, looksLikeSeconds(time) else { return nil }
        return "looks like seconds; milliseconds are wanted: \(time * 1000)"
    }

    /// As seconds it lies between 1980 and the end of unsigned 32-bit seconds (2106); as milliseconds, before 1980.
    private static func looksLikeSeconds(_ time: Int64) -> Bool { (first / 1000..<4_294_967_296).contains(time) }
}
