import Testing
import TrackModel
import TrackStore

@Suite struct TrackStoreErrorTests {
    @Test func onlyAFullAndABusyStoreMayHelpThemselves() {
        let codes: [TrackStoreError.Code] = [
            .unknownService, .entityExists, .unknownEntity, .tooManyPoints, .newerSchema, .full, .busy, .corrupt,
            .failed,
        ]
        #expect(codes.filter { TrackStoreError($0, "").isRetriable } == [.full, .busy])
    }

    @Test func errorsAreEqualWhenTheirCodesAre() {
        #expect(TrackStoreError(.full, "one") == TrackStoreError(.full, "other"))
        #expect(TrackStoreError(.full, "one") != TrackStoreError(.busy, "one"))
    }

    @Test func theLastSequenceOfABatchCountsTheRefusedPoints() {
        let position = StreamPosition(stream: StreamID(high: 1, low: 2), first: 41, count: 3)
        #expect(position.last == 43)
    }
}
