import Glibc
import JSON
import Synchronization
import Terminal

/// Reads JSON objects, one a line, on a thread of its own, and keeps the newest.
final class LineReader: Sendable {
    private struct State {
        var newest: [String: JSONValue] = [:]
        var isOver = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The most bytes of one line. Longer lines are skipped.
    private static let maximumLine = 65_536

    private let state = Mutex(State())

    /// The newest line that was a JSON object; empty before there was one.
    var newest: [String: JSONValue] { state.withLock { $0.newest } }

    /// Reads until the end of a descriptor, which it does not close. Once.
    func start(reading descriptor: Int32) {
        let reading = Unmanaged.passRetained(Reading(reader: self, descriptor: descriptor))
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let reading = Unmanaged<Reading>.fromOpaque(argument).takeRetainedValue()
                reading.reader.read(reading.descriptor)
                return nil
            }, reading.toOpaque())
        guard failed == 0 else {
            reading.release()
            return end()
        }
        pthread_detach(thread)
    }

    /// Returns when there are no more lines, or when it is cancelled.
    func untilEnd() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.waiting.append(continuation) }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }

    private final class Reading {
        let reader: LineReader
        let descriptor: Int32

        init(reader: LineReader, descriptor: Int32) {
            self.reader = reader
            self.descriptor = descriptor
        }
    }

    private func read(_ descriptor: Int32) {
        var line: [UInt8] = []
        var isTooLong = false
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in piece.prefix(count) {
                if byte == UInt8(ascii: "\n") {
                    take(line, isTooLong: isTooLong)
                    line = []
                    isTooLong = false
                } else if line.count < Self.maximumLine {
                    line.append(byte)
                } else {
                    isTooLong = true
                }
            }
        }
        if !line.isEmpty { take(line, isTooLong: isTooLong) }
        end()
    }

    private func take(_ line: [UInt8], isTooLong: Bool) {
        guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return }
        guard !isTooLong, let object = (try? JSONReader.value(of: line))?.objectValue else {
            let shown = String(decoding: line.prefix(60), as: UTF8.self).printable
            return Output.complain("saker: a line is not a JSON object; the line before stays in use: \(shown)")
        }
        state.withLock { $0.newest = object }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
