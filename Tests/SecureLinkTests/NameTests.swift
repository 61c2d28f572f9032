import Dispatch
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import SecureLink

/// Names are looked up by something that may hang for as long as it likes.
@Suite(.timeLimit(.minutes(5))) struct NameTests {
    private static let loop = MultiThreadedEventLoopGroup.singleton.next()
    private static let found = try? SocketAddress(ipAddress: "192.0.2.1", port: 1)
    private let question = NameResolver.Question(host: "track.test", port: 1, family: .any)

    /// Lookups that hang until the test lets them go, each with what it then finds.
    private final class StuckNames: Sendable {
        private struct State {
            var asked: [NameResolver.Question] = []
            var answers: [NameResolver.Question: NameResolver.Outcome] = [:]
        }

        private let state = Mutex(State())

        var asked: [NameResolver.Question] { state.withLock { $0.asked } }

        func answer(_ question: NameResolver.Question, _ outcome: NameResolver.Outcome) {
            state.withLock { $0.answers[question] = outcome }
        }

        func lookUp(_ question: NameResolver.Question) -> NameResolver.Outcome {
            state.withLock { $0.asked.append(question) }
            while true {
                if let outcome = state.withLock({ $0.answers[question] }) { return outcome }
                // A lookup blocks its thread.
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
            }
        }
    }

    private func until(_ condition: () -> Bool) async { while !condition() { await Task.yield() } }

    @Test func lookupsThatHangAreBoundedAndShareTheFirstAnswer() async throws {
        let names = StuckNames()
        let resolver = NameResolver(maximumThreads: 3, lookUp: names.lookUp)
        let answers = Mutex(0)
        for _ in 0..<20 { _ = resolver.ask(question) { _ in answers.withLock { $0 += 1 } } }
        await until { names.asked.count == 3 }
        #expect(resolver.threads == 3)
        // Another name has to wait for a thread, and gets one.
        let other = NameResolver.Question(host: "other.test", port: 1, family: .any)
        let otherAnswers = Mutex(0)
        _ = resolver.ask(other) { _ in otherAnswers.withLock { $0 += 1 } }
        names.answer(other, .success([]))
        names.answer(question, .success([try #require(Self.found)]))
        await until { answers.withLock { $0 } == 20 && otherAnswers.withLock { $0 } == 1 }
        await until { resolver.threads == 0 }
        // One thread each of the three, and one for the other name: who shares an answer costs none.
        #expect(names.asked.count == 4)
    }

    @Test func aFailureIsTheAskersOwnWhileAnotherLookupGoesOn() async throws {
        let names = StuckNames()
        let resolver = NameResolver(maximumThreads: 1, lookUp: names.lookUp)
        let failed = Mutex(0)
        for _ in 0..<2 { _ = resolver.ask(question) { if case .failure = $0 { failed.withLock { $0 += 1 } } } }
        let forgotten = resolver.ask(question) { _ in Issue.record("a forgotten question is answered") }
        resolver.forget(forgotten)
        // Both depend on the one lookup there is: its failure is theirs.
        names.answer(question, .failure(SecureLinkError(.nameResolution, "no such name")))
        await until { failed.withLock { $0 } == 2 }
    }

    @Test func anAddressNeedsNoThread() async throws {
        let resolver = NameResolver(maximumThreads: 0) { _ in .success([]) }
        for (host, four, six) in [("192.0.2.7", 1, 0), ("2001:db8::7", 0, 1)] {
            let query = NameQuery(resolver: resolver, on: Self.loop, limit: .hours(1))
            #expect(try await query.initiateAAAAQuery(host: host, port: 7443).get().count == six)
            let addresses = try await query.initiateAQuery(host: host, port: 7443).get()
            #expect(addresses.count == four && addresses.allSatisfy { $0.port == 7443 })
        }
    }

    @Test func withoutAnAnswerIPv4IsAskedForAlone() async throws {
        let names = StuckNames()
        let resolver = NameResolver(maximumThreads: 4, lookUp: names.lookUp)
        let ipv4 = NameResolver.Question(host: "track.test", port: 1, family: .ipv4)
        names.answer(ipv4, .success([try #require(Self.found)]))
        let query = NameQuery(resolver: resolver, on: Self.loop, limit: .hours(1), ipv4Delay: .milliseconds(1))
        let six = query.initiateAAAAQuery(host: "track.test", port: 1)
        #expect(try await query.initiateAQuery(host: "track.test", port: 1).get() == [try #require(Self.found)])
        query.cancelQueries()
        await #expect(throws: SecureLinkError(.cancelled, "")) { try await six.get() }
        names.answer(question, .success([]))
        await until { resolver.threads == 0 }
    }

    @Test func aNameServerThatNeverAnswersMeetsTheDeadline() async throws {
        let names = StuckNames()
        let resolver = NameResolver(maximumThreads: 4, lookUp: names.lookUp)
        let query = NameQuery(resolver: resolver, on: Self.loop, limit: .milliseconds(50))
        let error = await #expect(throws: SecureLinkError.self) {
            try await query.initiateAAAAQuery(host: "track.test", port: 1).get()
        }
        #expect(error?.code == .nameResolution && error?.detail.contains("50 ms") == true)
        await #expect(throws: SecureLinkError.self) {
            try await query.initiateAQuery(host: "track.test", port: 1).get()
        }
        names.answer(question, .success([]))
        await until { resolver.threads == 0 }
    }

    @Test func aNameThatIsNotThereIsTold() async throws {
        let workshop = try Workshop()
        let context = try TLSContext(TLSClientOptions(trust: .authorities(file: workshop.authority.certificate)))
        let error = await #expect(throws: SecureLinkError.self) {
            try await TestLink.connect(to: "no.invalid", port: 1, context)
        }
        #expect(error?.code == .nameResolution && error?.detail.contains("no.invalid") == true)
    }
}
