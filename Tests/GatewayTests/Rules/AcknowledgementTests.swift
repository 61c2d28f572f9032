import Testing
import TrackStore
import TrackWire

@testable import Gateway

@Suite struct AcknowledgementTests {
    @Test func acknowledgementsInARowBecomeOne() {
        let (messages, failure) = Acknowledgement.messages(for: [
            job(.stored(through: 10)), job(.stored(through: 20), refused: [15]), job(.duplicate(through: 20)),
        ])
        #expect(failure == nil)
        #expect(messages.count == 1)
        let ack = messages.first?.message?.uploadAck
        #expect(ack?.storedThrough == 20)
        #expect(ack?.refused.map(\.sequence) == [15])
    }

    @Test func repliesKeepTheirPlace() {
        let points = SettledJob(
            ticket: .points(id: 4, stored: 2, refusals: []), payloadBytes: 1, result: .success(.stored(through: 0)))
        let (messages, _) = Acknowledgement.messages(for: [
            job(.stored(through: 10)), points, job(.stored(through: 20)),
        ])
        #expect(messages.count == 3)
        #expect(messages[1].message?.pointsReply?.stored == 2)
    }

    @Test func whatWasStoredBeforeAFailureIsAcknowledgedAndNothingAfterIt() {
        let failed = SettledJob(ticket: .upload(refusals: []), payloadBytes: 1, result: .failure(.busy))
        let (messages, failure) = Acknowledgement.messages(for: [
            job(.stored(through: 10)), failed, job(.stored(through: 30)),
        ])
        #expect(failure == .busy)
        #expect(messages.map { $0.message?.uploadAck?.storedThrough } == [10])
    }

    @Test func manyRefusalsStayBelowTheLongestFrame() {
        let jobs = (0..<16).map { batch in
            job(
                .stored(through: UInt64(batch) * 1000 + 1000),
                refused: (1...1000).map { UInt64(batch) * 1000 + $0 })
        }
        let (messages, _) = Acknowledgement.messages(for: jobs)
        #expect(messages.count == 16)
        #expect(messages.allSatisfy { WireCodec.encode($0).count < WireLimits.frameBytes })
    }

    private func job(_ outcome: IngestOutcome, refused: [UInt64] = []) -> SettledJob {
        let reason = String(repeating: "a reason of some length", count: 10)
        return SettledJob(
            ticket: .upload(refusals: refused.map { PointRefusal(number: $0, reason: reason) }), payloadBytes: 1,
            result: .success(outcome))
    }
}
