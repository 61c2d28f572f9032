/// Cuts a byte stream into frames: an unsigned varint length, then that many bytes.
///
/// A value without I/O: append what arrived, then ask for frames until there is none. It holds at most what was
/// appended and not yet returned; after an error the stream has no more frames and the connection must be closed.
package struct FrameDecoder: Sendable {
    /// Longest message accepted; may be changed between frames, for example after a login.
    package var maximumFrameBytes: Int
    private var buffer: [UInt8] = []
    /// Where the first byte not yet returned stands in `buffer`.
    private var start = 0
    private var failure: WireError?

    package init(maximumFrameBytes: Int = WireLimits.frameBytes) {
        self.maximumFrameBytes = maximumFrameBytes
    }

    /// Bytes appended and not yet returned: less than one frame once ``next()`` has returned nil.
    package var bufferedBytes: Int { buffer.count - start }

    /// Adds bytes in the order of their arrival; ignored after an error.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard failure == nil else { return }
        if start == buffer.count {
            // Nothing is left over: a large former frame must not hold its memory for the life of the connection.
            if buffer.capacity > 4096, bytes.count < 1024 {
                buffer = []
            } else {
                buffer.removeAll(keepingCapacity: true)
            }
            start = 0
        } else if start > 4096, start > buffer.count / 2 {
            // Each move is paid for by at least as many bytes returned before it.
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole message, without its length; nil when more bytes are needed.
    ///
    /// Throws `.malformed` for a length that is not in its shortest form and `.tooLarge` for one above the limit,
    /// as soon as the length itself has arrived; the same error again on every later call.
    package mutating func next() throws(WireError) -> [UInt8]? {
        if let failure { throw failure }
        var length: UInt64 = 0
        var position = start
        while true {
            guard position < buffer.count else { return nil }
            let byte = buffer[position]
            let shift = UInt64(position - start) * 7
            position += 1
            length |= UInt64(byte & 0x7F) << shift
            guard length <= UInt64(maximumFrameBytes) else {
                throw fail(.tooLarge, "a frame may have at most \(maximumFrameBytes) bytes, its length says more")
            }
            if byte < 0x80 {
                guard byte != 0 || shift == 0 else {
                    throw fail(.malformed, "a frame's length must be a varint in its shortest form")
                }
                break
            }
            // Four bytes hold 28 bits, more than any length that is allowed.
            guard shift < 28 else {
                throw fail(.malformed, "a frame's length must be a varint in its shortest form")
            }
        }
        let end = position + Int(length)
        guard end <= buffer.count else { return nil }
        let frame = Array(buffer[position..<end])
        start = end
        return frame
    }

    private mutating func fail(_ code: WireError.Code, _ detail: String) -> WireError {
        let error = WireError(code, detail)
        failure = error
        buffer = []
        start = 0
        return error
    }
}
