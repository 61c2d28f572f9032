internal import Glibc
internal import TrackModel

/// Cuts received bytes into lines, in 64 KiB that are allocated once.
///
/// gpsd's longest message is 10,240 bytes (its GPS_JSON_RESPONSE_MAX). The buffer skips a line that does not fit.
struct LineBuffer: ~Copyable {
    enum Line {
        /// The line without its line end, followed by a NUL: ready for C.
        case complete(Range<Int>)
        case tooLong
    }

    static let capacity = 65_536

    private(set) var bytes = [UInt8](repeating: 0, count: LineBuffer.capacity)
    private var start = 0
    private var end = 0
    /// There is no line end before this position.
    private var searched = 0
    private var skipping = false

    mutating func reset() {
        (start, end, searched, skipping) = (0, 0, 0, false)
    }

    /// Makes room, gives the free part to `read`, and keeps as many bytes as `read` returns (none for 0 or less).
    mutating func fill(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        if start > 0 {
            let (kept, from) = (end - start, start)
            unsafe bytes.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                _ = unsafe memmove(base, base + from, kept)
            }
            (end, searched, start) = (kept, searched - from, 0)
        }
        let free = end..<Self.capacity
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe read(UnsafeMutableRawBufferPointer(rebasing: $0[free]))
        }
        end += max(0, min(count, free.count))
        return count
    }

    /// The next whole line; nil when more bytes must arrive first.
    mutating func next() -> Line? {
        while true {
            guard let lineEnd = bytes[searched..<end].firstIndex(of: UInt8(ascii: "\n")) else {
                searched = end
                guard start == 0, end == Self.capacity else { return nil }
                // The buffer is full without a line end. The rest of the line is dropped, and the caller is told once.
                let first = !skipping
                reset()
                skipping = true
                if first { return .tooLong }
                return nil
            }
            let line = start..<lineEnd
            start = lineEnd + 1
            searched = start
            if skipping {
                skipping = false
                continue
            }
            bytes[lineEnd] = 0
            guard let last = line.last, bytes[last] == UInt8(ascii: "\r") else { return .complete(line) }
            bytes[last] = 0
            return .complete(line.lowerBound..<last)
        }
    }

    /// Replaces one byte with a NUL, so that C sees the end of a part of a line.
    mutating func terminate(at index: Int) {
        bytes[index] = 0
    }

    /// A part of the buffer up to a NUL, for C.
    mutating func withPart(at index: Int, _ body: (UnsafeMutablePointer<CChar>) -> Void) {
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            unsafe body((base + index).assumingMemoryBound(to: CChar.self))
        }
    }
}

/// Limits how much work gpsd can give the agent. When the budget is empty, reading pauses, and TCP makes the sender
/// wait.
///
/// One unit is one line or 2 KiB. A receiver at 10 Hz uses about 50 units a second.
struct ReadBudget: Hashable {
    static let unitsPerSecond: Int64 = 500
    static let most: Int64 = 1_000

    /// Negative after one read took more than was left.
    private var units = Self.most
    private var filled = MonotonicTime.distantPast

    /// Milliseconds until reading may continue; 0 when it may continue now.
    mutating func wait(at now: MonotonicTime) -> Int64 {
        if now > filled {
            // A minute refills the budget from any depth. The bound keeps the product small, whatever the clock says.
            let gained = min(now - filled, 60_000) * Self.unitsPerSecond / 1000
            units = min(Self.most, units + gained)
            if gained > 0 { filled = now }
        }
        guard units <= 0 else { return 0 }
        return (1 - units) * 1000 / Self.unitsPerSecond
    }

    mutating func spend(lines: Int, bytes: Int) {
        // The buffer holds at most 65,536 lines, so the debt has a bound.
        units -= Int64(lines + bytes / 2048)
    }
}
