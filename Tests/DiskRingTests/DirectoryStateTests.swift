import Testing

@testable import DiskRing

/// Every event in every state.
@Suite struct DirectoryStateTests {
    private static let known: [DirectoryState] = [
        .inherited(isBesideOthers: false, unsecured: [1, 5]), .inherited(isBesideOthers: true, unsecured: [5]),
        .secured(isBesideOthers: false), .secured(isBesideOthers: true),
    ]
    private static let unread: [DirectoryState] = [
        .unread(failures: 0), .unread(failures: 3), .unread(failures: 4), .unread(failures: 5), .unread(failures: 14),
        .unread(failures: 15), .unread(failures: 16),
    ]

    private func after(_ state: DirectoryState, _ event: (inout DirectoryState) -> Void) -> DirectoryState {
        var state = state
        event(&state)
        return state
    }

    @Test(arguments: unread + [.blind])
    func whatWasReadCounts(state: DirectoryState) {
        var state = state
        var empty = state
        #expect(state.readingEnded(.clear(newest: [1, 5])) == .adopt)
        #expect(state == .inherited(isBesideOthers: false, unsecured: [1, 5]))
        #expect(empty.readingEnded(.clear(newest: [])) == .adopt)
        #expect(empty == .secured(isBesideOthers: false))
    }

    @Test(arguments: 0..<15)
    func aBlindReadingIsNotBelievedAtFirst(failures: Int) {
        var state = DirectoryState.unread(failures: failures)
        #expect(state.readingEnded(.blind) == .tryAgain)
        #expect(state == .unread(failures: failures + 1))
    }

    @Test(arguments: [.unread(failures: 15), .unread(failures: 16), .blind] as [DirectoryState])
    func aBlindReadingIsBelievedAtLast(state: DirectoryState) {
        var state = state
        #expect(state.readingEnded(.blind) == .beginBeside)
        #expect(state == .blind)
    }

    @Test(arguments: known)
    func whatIsKnownIsNotReadAgain(state: DirectoryState) {
        for sight in [DirectoryState.Sight.clear(newest: [9]), .blind] {
            var state = state
            let before = state
            #expect(state.readingEnded(sight) == .tryAgain)
            #expect(state == before)
        }
    }

    @Test func aFailedReadingCountsWhenTheDiskIsToBlame() {
        for state in Self.unread + Self.known + [.blind] {
            #expect(after(state) { $0.readingFailed(.waiting) } == state)
            guard case .unread(let failures) = state else {
                #expect(after(state) { $0.readingFailed(.disk) } == state)
                continue
            }
            #expect(after(state) { $0.readingFailed(.disk) } == .unread(failures: failures + 1))
        }
    }

    @Test func onlyABlindCacheBeginsBeside() {
        #expect(after(.blind) { $0.beganBeside() } == .secured(isBesideOthers: true))
        for state in Self.unread + Self.known { #expect(after(state) { $0.beganBeside() } == state) }
    }

    @Test(arguments: [false, true])
    func onlyWhatWasReadIsSecured(isBeside: Bool) {
        let secured = DirectoryState.secured(isBesideOthers: isBeside)
        let inherited = DirectoryState.inherited(isBesideOthers: isBeside, unsecured: [1, 5])
        #expect(after(inherited) { $0.secured(except: []) } == secured)
        let rest = after(inherited) { $0.secured(except: [5]) }
        #expect(rest == .inherited(isBesideOthers: isBeside, unsecured: [5]))
        #expect(rest.unsecured == [5])
        // What was secured stays so, and what was never in doubt is not.
        #expect(after(rest) { $0.secured(except: [1, 9]) } == secured)
        for state in Self.unread + [.blind, secured] {
            #expect(after(state) { $0.secured(except: [1]) } == state)
            #expect(state.unsecured.isEmpty)
        }
    }

    @Test func aSegmentGivenUpIsRemembered() {
        for isBeside in [false, true] {
            let inherited = DirectoryState.inherited(isBesideOthers: isBeside, unsecured: [5])
            #expect(after(inherited) { $0.gaveSegmentUp() } == .inherited(isBesideOthers: true, unsecured: [5]))
            #expect(after(.secured(isBesideOthers: isBeside)) { $0.gaveSegmentUp() } == .secured(isBesideOthers: true))
        }
        for state in Self.unread + [.blind] { #expect(after(state) { $0.gaveSegmentUp() } == state) }
    }

    @Test func whatMayBeDone() {
        for state in Self.unread {
            guard case .unread(let failures) = state else { continue }
            #expect(!state.isKnown)
            #expect(state.letsMemoryGo == (failures >= 5))
            #expect(state.readsWhatItCan == (failures >= 4))
        }
        #expect(!DirectoryState.blind.isKnown)
        #expect(DirectoryState.blind.letsMemoryGo && DirectoryState.blind.readsWhatItCan)
        for state in Self.known { #expect(state.isKnown && state.letsMemoryGo) }
    }

    @Test func theStreamIsNamedBesideOthers() {
        #expect(DirectoryState.blind.mustNameStream)
        #expect(DirectoryState.inherited(isBesideOthers: true, unsecured: [5]).mustNameStream)
        #expect(DirectoryState.secured(isBesideOthers: true).mustNameStream)
        #expect(!DirectoryState.inherited(isBesideOthers: false, unsecured: [5]).mustNameStream)
        #expect(!DirectoryState.secured(isBesideOthers: false).mustNameStream)
    }
}
