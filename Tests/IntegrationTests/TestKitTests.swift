import ProgramTestKit
import Testing

/// What the other tests lean on.
struct TestKitTests {
    /// A test that ends its receiver late must not cut the socket of another that has got the number meanwhile.
    @Test func endingAClosedListenerTouchesNoDescriptorOfOthers() throws {
        let closed = try ListeningSocket()
        closed.close()
        // Some hundred, because tests beside this one may take the free number first.
        let others = try (0..<100).map { _ in try ListeningSocket() }
        closed.end()
        #expect(others.allSatisfy { isListening($0.port) })
    }
}
