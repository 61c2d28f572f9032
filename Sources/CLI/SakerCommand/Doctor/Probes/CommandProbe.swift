import Diagnosing
import Glibc

/// Asks another program of this machine.
enum CommandProbe {
    private static let milliseconds: Int64 = 4000
    private static let maximumBytes = 65_536

    struct Answer: Hashable, Sendable {
        var status: Int32
        /// Standard output and error together.
        var text: String
    }

    /// Nil when it cannot be run or does not end in time.
    static func run(_ command: [String]) async -> Answer? {
        let answer = await Deadline.run(seconds: milliseconds / 1000 + 1) { () -> Answer? in
            guard let child = try? ChildProcess.start(command, mergingErrors: true) else { return nil }
            defer { close(child.output) }
            guard let bytes = read(child.output) else {
                child.end()
                return nil
            }
            return Answer(status: child.wait(), text: String(decoding: bytes, as: UTF8.self))
        }
        return answer ?? nil
    }

    /// Everything up to its end; nil when the end does not come in time, or after too much.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maximumBytes {
            let left = (end - ContinuousClock.now) / .milliseconds(1)
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&waiting, 1, Int32(left)) > 0 else { return nil }
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
        return nil
    }
}
