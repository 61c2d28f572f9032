package import Foundation

extension Process {
    /// Runs the process, and closes the files that it was given as its streams: it has copies of its own. Foundation keeps them open
    /// after the end, and its next start crashes the tests when over a thousand descriptors are open.
    package func runWithItsFiles() throws {
        try run()
        for stream in [standardInput, standardOutput, standardError] {
            guard let file = stream as? FileHandle, file !== FileHandle.nullDevice else { continue }
            try file.close()
        }
    }

    /// Runs the process with `runWithItsFiles`, and returns when it has ended.
    package func runToItsEnd() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            terminationHandler = { _ in continuation.resume() }
            do {
                try runWithItsFiles()
            } catch {
                terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }

    /// Returns when the process, which runs, has ended; throws when it does not within five minutes. It asks again and again: Foundation's
    /// own wait needs a run loop of the calling thread, and may turn for ever on another.
    package func awaitEnd() throws {
        try waitUntil("process \(processIdentifier) ends", within: 300) { !isRunning }
    }
}
