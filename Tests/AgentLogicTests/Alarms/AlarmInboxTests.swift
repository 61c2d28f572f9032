import Testing

@testable import AgentLogic

@Suite struct AlarmInboxTests {
    @Test func aPushIsAcknowledgedWhenItIsOnTheDiskAndToldOnce() {
        var inbox = AlarmInbox()
        #expect(inbox.received(7, bytes: 100) == [.journal(7)])
        #expect(inbox.received(7, bytes: 100) == [])
        #expect(inbox.journaled(7, isNew: true) == [.acknowledge(7), .tell(7)])
        #expect(inbox.received(7, bytes: 100) == [.journal(7)])
        #expect(inbox.journaled(7, isNew: false) == [.acknowledge(7)])
        #expect(inbox.journaled(7, isNew: true) == [])
        #expect(inbox.counters.taken == 1)
        #expect(inbox.counters.repeated == 1)
    }

    @Test func whatCannotBeWrittenIsSaidOnceAndNotAcknowledged() {
        var inbox = AlarmInbox()
        _ = inbox.received(1, bytes: 1)
        _ = inbox.received(2, bytes: 1)
        #expect(inbox.failed(1, reason: "full") == [.complain(reason: "full")])
        #expect(inbox.failed(2, reason: "full") == [])
        #expect(inbox.trouble == "full")
        _ = inbox.received(1, bytes: 1)
        #expect(inbox.failed(1, reason: "broken") == [.complain(reason: "broken")])
        _ = inbox.received(1, bytes: 1)
        #expect(inbox.journaled(1, isNew: true) == [.acknowledge(1), .tell(1), .relieved])
        #expect(inbox.trouble == nil)
        #expect(inbox.failed(1, reason: "late") == [])
    }

    @Test func whatWaitsForTheDiskIsBounded() {
        var limits = AlarmInbox.Limits()
        (limits.waiting, limits.bytes) = (3, 1000)
        var inbox = AlarmInbox(limits: limits)
        #expect(inbox.received(1, bytes: 600) == [.journal(1)])
        #expect(inbox.received(2, bytes: 600) == [])
        #expect(inbox.received(3, bytes: 400) == [.journal(3)])
        #expect(inbox.received(4, bytes: 0) == [.journal(4)])
        #expect(inbox.received(5, bytes: 0) == [])
        _ = inbox.failed(1, reason: "x")
        #expect(inbox.received(2, bytes: 600) == [.journal(2)])
    }

    @Test func whatNobodyCouldRecogniseOrKeepIsRefusedOnce() {
        var inbox = AlarmInbox()
        #expect(inbox.received(0, bytes: 1) == [.refuse(0, .noNumber)])
        #expect(inbox.received(0, bytes: 1) == [])
        #expect(inbox.received(5, bytes: 16_385) == [.refuse(5, .tooLong)])
        #expect(inbox.received(5, bytes: 16_385) == [])
        #expect(inbox.received(6, bytes: 16_384) == [.journal(6)])
        #expect(inbox.counters.refused == 2)
    }
}
