import AgentLogic
import TrackModel

@testable import GNSSFeed

/// gpsd's socket: what a gpsd, or whatever listens in its place, may send.
enum GNSSProperties {
    /// First byte: how many bytes arrive at a time. The rest: what is sent.
    @Sendable static func check(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let size = Int(reader.byte())
        // What fits the buffer at once must come out the same in pieces.
        let stream = Array(reader.rest.prefix(LineBuffer.capacity - 1))
        let whole = try messages(of: stream, piece: .max)
        let pieces = try messages(of: stream, piece: max(size, 1))
        try require(whole == pieces, "the messages depend on how the bytes arrived")

        var epochs = EpochAssembler()
        var (time, now) = (TimeGuard(), MonotonicTime(milliseconds: 0))
        var sampler = Sampler(
            interval: 2, options: LocationOptions(desiredAccuracy: 50, distanceFilter: 5, activity: .automotive))
        var last: Timestamp?
        for case .position(let report)? in whole {
            try checkReport(report)
            now += Int64(report.mode) * 400
            let reading = ClockReading(now: now, system: Timestamp(seconds: 1_800_000_000), isKept: size % 2 == 0)
            guard let epoch = epochs.report(report, at: reading),
                case .dated(let fix, let beginsAnew) = time.judge(epoch)
            else { continue }
            if beginsAnew {
                sampler.beginAnew()
                last = nil
            }
            guard case .point(let point) = sampler.fix(fix) else { continue }
            if let last {
                try require(point.time.milliseconds(since: last) > 0, "points go back in time")
            }
            last = point.time
        }
    }

    private static func messages(of stream: [UInt8], piece: Int) throws -> [GPSDMessage?] {
        let decoder = try MessageDecoder()
        var buffer = LineBuffer()
        var messages: [GPSDMessage?] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let part = rest.prefix(piece)
            _ = buffer.fill { free in
                free.copyBytes(from: part)
                return part.count
            }
            rest = rest.dropFirst(part.count)
            while let line = buffer.next() {
                guard case .complete(let range) = line else { throw Violation(description: "a short line is too long") }
                messages.append(decoder.decode(range, in: &buffer))
            }
        }
        return messages
    }

    private static func checkReport(_ report: GNSSReport) throws(Violation) {
        try require((0...3).contains(report.mode), "mode \(report.mode)")
        let numbers = [
            report.latitude, report.longitude, report.speed, report.course, report.altitudeMSL, report.horizontalError,
        ]
        try require(numbers.allSatisfy { $0?.isFinite ?? true }, "a number that is none")
        try require(
            report.time.map { (315_964_800...7_258_118_401).contains($0.seconds) } ?? true, "a time out of range")
    }
}
