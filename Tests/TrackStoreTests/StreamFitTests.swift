import Testing
import TrackModel
import TrackStore

@Suite struct StreamFitTests {
    private func position(
        _ sequences: ClosedRange<UInt64>, after previous: UInt64, epoch: Int64 = 7
    ) -> StreamPosition {
        StreamPosition(
            stream: StreamID(high: 1, low: 2), epoch: epoch, previous: previous, first: sequences.lowerBound,
            count: UInt32(sequences.count))
    }

    @Test func theLastSequenceOfABatchCountsTheRefusedPoints() {
        #expect(position(41...43, after: 40).last == 43)
    }

    @Test func aBatchIsStoredFromWhereTheStoreStands() {
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 10) == .next(after: 10))
        // After a gap, over an overlap, and over what an attempt whose answer was lost stored of it.
        #expect(StreamFit(position(15...20, after: 10), epoch: 7, storedThrough: 10) == .next(after: 10))
        #expect(StreamFit(position(5...20, after: 10), epoch: 7, storedThrough: 10) == .next(after: 10))
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 15) == .next(after: 15))
    }

    @Test func whatIsStoredIsADuplicate() {
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 20) == .stored(through: 20))
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 30) == .stored(through: 30))
        #expect(StreamFit(position(3...5, after: 10), epoch: 7, storedThrough: 10) == .stored(through: 10))
    }

    @Test func anotherEpochIsReplacedWhateverIsStored() {
        for stored in [0, 10, 15, 20, 30] as [UInt64] {
            #expect(StreamFit(position(11...20, after: 10), epoch: 8, storedThrough: stored) == .replaced)
            #expect(StreamFit(position(11...20, after: 10), epoch: 6, storedThrough: stored) == .replaced)
        }
    }

    @Test func lessThanTheSessionBelievesIsALoss() {
        #expect(StreamFit(position(11...20, after: 10), epoch: 7, storedThrough: 9) == .rewound(through: 9))
        #expect(StreamFit(position(3...5, after: 10), epoch: 7, storedThrough: 9) == .rewound(through: 9))
    }
}
