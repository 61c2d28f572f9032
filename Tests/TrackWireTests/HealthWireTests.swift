import ProgramTestKit
import Testing
import TrackModel

@testable import TrackWire

/// A vehicle's health on the wire.
@Suite struct HealthWireTests {
    private static let report = HealthReport(
        backlog: 70_000, losses: [.bound: 12, .damaged: 3], lossAge: 60, receiver: .away, fixAge: 75,
        isGathering: true, disk: .full, certificateEnd: 1_900_000_000)

    private func heartbeat(_ report: HealthReport?) -> Heartbeat {
        var heartbeat = Heartbeat()
        heartbeat.report = report
        return heartbeat
    }

    /// Servers in the field read these bytes.
    @Test func everyMemberHasItsNumber() {
        let body: [UInt8] = [
            0x08, 0xF0, 0xA2, 0x04,  // backlog
            0x12, 4, 0x08, 1, 0x10, 12, 0x12, 4, 0x08, 4, 0x10, 3,  // losses
            0x18, 60, 0x20, 4, 0x28, 75, 0x30, 1, 0x38, 2,  // loss age, receiver, fix age, gathering, disk
            0x40, 0x80, 0xE6, 0xFE, 0x89, 0x07,  // certificate
        ]
        #expect(Self.report.encoded == body)
        let frame = WireCodec.encode(ClientFrame(.heartbeat(heartbeat(Self.report))))
        let size = UInt8(body.count)
        #expect(frame == [size + 4, 5 << 3 | 2, size + 2, 2 << 3 | 2, size] + body)
        #expect(HealthReport(encoded: body) == Self.report)
    }

    @Test func aReportComesBack() {
        var reports = [HealthReport(), Self.report, HealthReport(lossAge: 0, fixAge: 0)]
        reports += HealthReport.LossReason.allCases.map { HealthReport(losses: [$0: .max]) }
        reports += HealthReport.Receiver.allCases.map { HealthReport(receiver: $0) }
        reports += HealthReport.Disk.allCases.map { HealthReport(disk: $0) }
        reports += [HealthReport(verdict: HealthReport.Verdict())]
        reports += TrackingObstacle.allCases.map {
            HealthReport(verdict: HealthReport.Verdict(obstacle: $0, age: 90, rejected: .max))
        }
        reports += [true, false].flatMap { isClockUsed in
            [
                HealthReport(dates: .missing(isClockUsed: isClockUsed)),
                HealthReport(
                    dates: .standing(receiver: Timestamp(seconds: 1_795_737_600), isClockUsed: isClockUsed)),
                HealthReport(
                    dates: .disagreement(
                        receiver: Timestamp(seconds: 2_066_860_800), clock: Timestamp(seconds: 0),
                        isClockUsed: isClockUsed)),
            ]
        }
        reports.append(
            HealthReport(
                dates: .receivers(
                    used: Timestamp(seconds: 1_795_737_600), other: Timestamp(seconds: 2_066_860_800), device: nil)))
        for report in reports { #expect(HealthReport(encoded: report.encoded) == report) }
        // The usual one of a vehicle that is well.
        let well = HealthReport(
            backlog: 6, receiver: .fix, fixAge: 1, isGathering: true, disk: .ok, certificateEnd: 1_900_000_000,
            verdict: HealthReport.Verdict())
        #expect(well.encoded.count <= 20)
    }

    @Test func theVerdictHasItsNumbers() {
        // Of a former agent: it does not judge.
        #expect(HealthReport(encoded: [0x30, 1])?.verdict == nil)
        #expect(HealthReport(encoded: [0x48, 1])?.verdict == HealthReport.Verdict())
        let verdict = HealthReport.Verdict(obstacle: .notLater, age: 90, rejected: 300)
        #expect(HealthReport(verdict: verdict).encoded == [0x48, 8, 0x50, 90, 0x58, 0xAC, 2])
        // Of a later agent.
        #expect(HealthReport(encoded: [0x48, 99])?.verdict == HealthReport.Verdict(obstacle: .other))
    }

    @Test func anAgentThatTellsNothingIsUnderstood() throws {
        // What an agent without this field sends: an empty heartbeat, and one with a live hint.
        for body in [[5 << 3 | 2, 0], [5 << 3 | 2, 3, 1 << 3 | 2, 1, 9]] as [[UInt8]] {
            guard case .heartbeat(let heartbeat)? = try WireCodec.decodeClient(body).message else {
                Issue.record("no heartbeat")
                continue
            }
            #expect(heartbeat.report == nil)
        }
        // Without a report the bytes are those of a former agent.
        #expect(WireCodec.encode(ClientFrame(.heartbeat(heartbeat(nil)))) == [2, 5 << 3 | 2, 0])
    }

    /// A server without the field sees an unknown one, and takes the heartbeat for an empty one.
    @Test func aServerThatKnowsNoHealthPassesOverIt() throws {
        let body = Self.report.encoded
        let size = UInt8(body.count)
        // Field 9 of a heartbeat is as unknown here as field 2 was to a former server.
        let frame = try WireCodec.decodeClient([5 << 3 | 2, size + 2, 9 << 3 | 2, size] + body)
        #expect(frame == ClientFrame(.heartbeat(Heartbeat())))
        // What a former server's Welcome has: the agent sends it nothing then.
        guard case .welcome(let welcome)? = try WireCodec.decodeServer([1 << 3 | 2, 2, 1 << 3, 5]).message else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.healthInterval == 0)
    }

    @Test func whatAPeerMakesUpIsUnknownAndNeverTooMuch() {
        let unknown: [UInt8] = [
            0x12, 4, 0x08, 99, 0x10, 5, 0x12, 4, 0x08, 98, 0x10, 6, 0x20, 77, 0x38, 78, 0x40, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
        ]
        #expect(HealthReport(encoded: unknown) == HealthReport(losses: [.other: 11]))
        var health = Health()
        health.losses = [Loss(), Loss(), Loss()]
        for index in health.losses.indices {
            health.losses[index].reason = .bound
            health.losses[index].points = .max
        }
        let report = HealthReport(health)
        #expect(report.losses == [.bound: .max] && report.lost == .max)
        #expect(HealthReport(encoded: [0x08]) == nil)
    }
}
