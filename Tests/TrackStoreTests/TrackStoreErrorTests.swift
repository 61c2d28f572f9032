import Testing
import TrackModel
import TrackStore

@Suite struct TrackStoreErrorTests {
    @Test func aRetryHelpsAFullABusyAndAnOrderlyStore() {
        let codes: [TrackStoreError.Code] = [
            .unknownService, .entityExists, .unknownEntity, .tooManyPoints, .tooManyNames, .newerSchema, .full, .busy,
            .outOfTurn, .missing, .corrupt, .closed, .failed,
        ]
        #expect(codes.filter { TrackStoreError($0, "").isRetriable } == [.full, .busy, .outOfTurn])
    }

    @Test func errorsAreEqualWhenTheirCodesAre() {
        #expect(TrackStoreError(.full, "one") == TrackStoreError(.full, "other"))
        #expect(TrackStoreError(.full, "one") != TrackStoreError(.busy, "one"))
    }
}
