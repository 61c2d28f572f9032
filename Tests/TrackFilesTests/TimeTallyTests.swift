import Testing

@testable import TrackFiles

@Suite struct TimeTallyTests {
    @Test(
        arguments: [
            ([1, 2, 3], 9, 0, true), ([1, 1, 2, 2, 2], 9, 3, true), ([3, 1, 3, 2, 1], 9, 2, true),
            // Without room: times that rise are told apart, and those that go back are not.
            ([1, 1, 2, 2, 3], 0, 2, true), ([1, 2, 1], 0, 0, false), ([5, 3, 7, 5, 3, 9, 8], 2, 2, false),
        ] as [([Int64], Int, Int, Bool)])
    func timesAreCountedAsFarAsThereIsRoom(times: [Int64], room: Int, repeated: Int, isExact: Bool) {
        var (tally, room) = (TimeTally(), room)
        for time in times { tally.add(time, room: &room) }
        #expect(tally.repeated == repeated && tally.isExact == isExact)
    }
}
