/// What must hold for whatever bytes come from outside, at one of the doors.
///
/// A violation is thrown; a trap, a hang and a forbidden memory access are the sanitizers' to find. The unit tests
/// compile the same files and replay the kept inputs.
package struct Property: Sendable {
    /// Also the folder's name below `Corpus` and `Found`.
    package let name: String
    package let check: @Sendable ([UInt8]) throws -> Void

    package static let all: [Property] = [
        Property(name: "alarm-report", check: AlarmProperties.checkReport),
        Property(name: "cache-segment", check: CacheProperties.checkSegment),
        Property(name: "configuration", check: ConfigurationProperties.check),
        Property(name: "enrolment", check: EnrolmentProperties.check),
        Property(name: "enrolment-body", check: EnrolmentBodyProperties.check),
        Property(name: "export-lines", check: ExportProperties.checkLines),
        Property(name: "fence-delivery", check: AlarmProperties.checkDelivery),
        Property(name: "fence-file", check: FenceProperties.checkFile),
        Property(name: "fence-geometry", check: FenceProperties.checkGeometry),
        Property(name: "gnss-lines", check: GNSSProperties.check),
        Property(name: "http-answer", check: AnswerProperties.check),
        Property(name: "metrics-request", check: MetricsProperties.check),
        Property(name: "road-answer", check: RoadProperties.check),
        Property(name: "route-file", check: RouteProperties.check),
        Property(name: "time-expression", check: TimeProperties.check),
        Property(name: "varlink-json", check: VarlinkProperties.checkJSON),
        Property(name: "varlink-requests", check: VarlinkProperties.checkRequests),
        Property(name: "web-json", check: WebProperties.checkJSON),
        Property(name: "web-parameters", check: WebProperties.checkParameters),
        Property(name: "web-requests", check: WebProperties.checkRequest),
        Property(name: "where-clause", check: FenceProperties.checkCondition),
        Property(name: "wire-batch", check: WireProperties.checkBatch),
        Property(name: "wire-frames", check: WireProperties.checkFrames),
        Property(name: "zip-file", check: ZipProperties.check),
    ]
}

/// A property that does not hold.
package struct Violation: Error, CustomStringConvertible {
    package let description: String
}

func require(_ holds: Bool, _ property: @autoclosure () -> String) throws(Violation) {
    guard holds else { throw Violation(description: property()) }
}

/// The first bytes of an input choose, the rest is the data.
struct InputReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) {
        rest = input[...]
    }

    /// 0 when the input is used up.
    mutating func byte() -> UInt8 {
        rest.popFirst() ?? 0
    }

    /// Most significant byte first; missing ones are 0.
    mutating func integer(bytes: Int) -> UInt64 {
        (0..<bytes).reduce(0) { value, _ in value << 8 | UInt64(byte()) }
    }

    /// The rest in pieces of a size, as a socket may deliver it.
    func pieces(of size: Int) -> [ArraySlice<UInt8>] {
        let size = min(max(size, 1), max(rest.count, 1))
        return stride(from: rest.startIndex, to: rest.endIndex, by: size).map {
            rest[$0..<min($0 + size, rest.endIndex)]
        }
    }
}
