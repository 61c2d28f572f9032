import Logging
import StoreRecords
import Synchronization
import Testing
import TrackModel
import TrackStore
import TrackTestKit

@testable import ServerRuntime

/// Breaks of those who write into a store that others use.
@Suite struct StepwiseWritingTests {
    @Test func aBreakIsDueAfterSomeWorkAndLastsAsLong() {
        var breaks = WriterBreaks()
        #expect((0..<3).map { _ in breaks.pause(after: .milliseconds(30)) } == [nil, nil, nil])
        #expect(breaks.pause(after: .milliseconds(30)) == WriterBreaks.shortestBreak)
        #expect(breaks.pause(after: .milliseconds(30)) == nil)
        #expect(breaks.pause(after: .milliseconds(900)) == .milliseconds(930))
        #expect(breaks.pause(after: .milliseconds(100)) == .milliseconds(150))
    }

    /// Whoever waits looks at least once in 100 ms; SQLite's own times.
    @Test func whoeverWaitsLooksDuringABreak() {
        let waits = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100].map { Duration.milliseconds($0) }
        #expect(waits.allSatisfy { $0 < WriterBreaks.shortestBreak })
    }

    /// A clock in which each step takes 60 ms, and what happened in which order.
    private final class Course: Sendable {
        private let state = Mutex((time: ContinuousClock.now, events: [String]()))

        func note(_ event: String) { state.withLock { $0.events.append(event) } }
        var events: [String] { state.withLock { $0.events } }

        var writing: StepwiseWriting {
            StepwiseWriting {
                self.state.withLock { state in
                    state.time = state.time.advanced(by: .milliseconds(60))
                    return state.time
                }
            } sleep: {
                self.note("break of \($0)")
            }
        }
    }

    /// A store in which everything takes five steps.
    private final class FiveSteps: StoreDecorator {
        let inner: any EngineStore
        private let course: Course
        private let left = Mutex(5)

        init(_ inner: any EngineStore, _ course: Course) { (self.inner, self.course) = (inner, course) }

        private func step() -> Bool {
            left.withLock { left in
                if left > 0 { course.note("step") }
                left -= 1
                return left >= 0
            }
        }

        func removeDeletedServices(limit: Int) async throws(TrackStoreError) -> Int { step() ? limit : 0 }

        func revokeDevices(ofToken number: Int64, limit: Int) async throws(TrackStoreError) -> [DeviceRecord] {
            guard step(), let service = ServiceID(rawValue: 1) else { return [] }
            return [DeviceRecord.sample(1, in: service)]
        }
    }

    private static let course = [
        "step", "step", "break of 0.15 seconds", "step", "step", "break of 0.15 seconds", "step",
    ]

    private func administration(_ course: Course) -> ServiceAdministration {
        ServiceAdministration(
            store: FiveSteps(TestStore(), course),
            writing: course.writing)
    }

    @Test func theDeletionOfAServiceLetsOthersWrite() async throws {
        let course = Course()
        try await administration(course).removeDeletedServices { _ in }
        #expect(course.events == Self.course)
    }

    @Test func theRevocationOfAllDevicesOfATokenLetsOthersWrite() async throws {
        let course = Course()
        try await administration(course).revokeDevices(ofToken: 1) { _ in }
        #expect(course.events == Self.course)
    }

    @Test func theServersOwnRemovalLetsCommandsWrite() async throws {
        let course = Course()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        await ServiceRemoving(
            store: FiveSteps(TestStore(), course), logger: logger, writing: course.writing
        ).round()
        #expect(course.events == Self.course)
    }
}
