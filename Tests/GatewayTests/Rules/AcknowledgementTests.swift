import Ingest
import Testing
import TrackWire

@testable import Gateway

@Suite struct AcknowledgementTests {
    @Test func acknowledgementsInARowBecomeOne() {
        let (messages, failure) = Acknowledgement.messages(for: [
            upload(10), upload(20, refused: [15]), upload(20),
        ])
        #expect(failure == nil)
        #expect(messages.count == 1)
        let ack = messages.first?.message?.uploadAck
        #expect(ack?.storedThrough == 20)
        #expect(ack?.refused.map(\.sequence) == [15])
    }

    @Test func repliesKeepTheirPlace() {
        let points = (submission: Submission.points(id: 4, stored: 2, refusals: []), result: Stored.success(0))
        let (messages, _) = Acknowledgement.messages(for: [upload(10), points, upload(20)])
        #expect(messages.count == 3)
        #expect(messages[1].message?.pointsReply?.stored == 2)
    }

    @Test func whatWasStoredBeforeAFailureIsAcknowledgedAndNothingAfterIt() {
        let failed = (submission: Submission.upload(refusals: []), result: Stored.failure(.busy))
        let (messages, failure) = Acknowledgement.messages(for: [upload(10), failed, upload(30)])
        #expect(failure == .busy)
        #expect(messages.map { $0.message?.uploadAck?.storedThrough } == [10])
    }

    @Test func manyRefusalsStayBelowTheLongestFrame() {
        let jobs = (0..<16).map { batch in
            upload(UInt64(batch) * 1000 + 1000, refused: (1...1000).map { UInt64(batch) * 1000 + $0 })
        }
        let (messages, _) = Acknowledgement.messages(for: jobs)
        #expect(messages.count == 16)
        #expect(messages.allSatisfy { WireCodec.encode($0).count < WireLimits.frameBytes })
    }

    @Test func nobodyHearsOfALiveHint() {
        let (messages, failure) = Acknowledgement.messages(for: [(.hint, .success(0)), (.hint, .failure(.failed))])
        #expect(messages.isEmpty)
        #expect(failure == nil)
    }

    private typealias Stored = Result<UInt64, IngestFailure>

    private func upload(
        _ through: UInt64, refused: [UInt64] = []
    ) -> (submission: Submission, result: Result<UInt64, IngestFailure>) {
        let reason = String(repeating: "a reason of some length", count: 10)
        return (.upload(refusals: refused.map { PointRefusal(number: $0, reason: reason) }), .success(through))
    }
}
