package import TrackModel

/// When the server received each point of a chunk: runs of points that came together.
///
/// For each run an unsigned varint, its points; for each but the first also a zigzag varint, by how much the step from
/// the previous run's time differs from the step before it, milliseconds. The first run's time is the chunk's own.
package enum ReceiveRuns {
    /// Nil when all points came at the same time.
    package static func encode(_ times: some Sequence<Timestamp>) -> (first: Timestamp, runs: [UInt8]?) {
        var bytes: [UInt8] = []
        var first: Int64?
        var current: Int64 = 0
        var step: Int64 = 0
        var count: UInt64 = 0
        for time in times {
            if count > 0, time.milliseconds == current {
                count += 1
                continue
            }
            if first == nil {
                first = time.milliseconds
            } else {
                append(count, to: &bytes)
                let next = time.milliseconds &- current
                let change = next &- step
                append(UInt64(bitPattern: (change &<< 1) ^ (change &>> 63)), to: &bytes)
                step = next
            }
            current = time.milliseconds
            count = 1
        }
        let start = Timestamp(milliseconds: first ?? 0)
        if bytes.isEmpty { return (start, nil) }
        append(count, to: &bytes)
        return (start, bytes)
    }

    /// One time for each of `count` points; nil when the runs do not add up to that.
    package static func decode(_ runs: [UInt8]?, first: Timestamp, count: Int) -> [Timestamp]? {
        guard let runs else { return [Timestamp](repeating: first, count: count) }
        var times: [Timestamp] = []
        times.reserveCapacity(count)
        var rest = runs[...]
        var current = first.milliseconds
        var step: Int64 = 0
        while true {
            guard let length = varint(&rest), length > 0, length <= UInt64(count - times.count) else { return nil }
            times.append(contentsOf: repeatElement(Timestamp(milliseconds: current), count: Int(length)))
            if rest.isEmpty { return times.count == count ? times : nil }
            guard let zigzag = varint(&rest) else { return nil }
            step = step &+ (Int64(bitPattern: zigzag &>> 1) ^ -Int64(bitPattern: zigzag & 1))
            current = current &+ step
        }
    }

    private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }

    private static func varint(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
