/// Cuts a byte stream into frames: an unsigned varint length, then that many bytes.
///
/// The decoder does no I/O. Append received bytes, then take frames until there is none. It holds at most the bytes
/// that were appended and not yet returned. After an error the stream gives no more frames, and the caller must close
/// the connection.
package struct FrameDecoder: Sendable {
    /// The longest message that the decoder accepts. It may change between frames, for example after a login.
    package var maximumFrameBytes: Int
    private var buffer: [UInt8] = []
    /// The position in `buffer` of the first byte that was not returned yet.
    private var start = 0
    private var failure: WireError?

    package init(maximumFrameBytes: Int = WireLimits.frameBytes) {
        self.maximumFrameBytes = maximumFrameBytes
    }

    /// Bytes that were appended and not yet returned; less than one frame after ``next()`` has returned nil.
    package var bufferedBytes: Int { buffer.count - start }

    /// Adds bytes in the order of their arrival. Ignores them after an error.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        guard failure == nil else { return }
        if start == buffer.count {
            // Everything was returned. The memory of a large earlier frame must not stay for the life of the
            // connection.
            if buffer.capacity > 4096, bytes.count < 1024 {
                buffer = []
            } else {
                buffer.removeAll(keepingCapacity: true)
            }
            start = 0
        } else if start > 4096, start > buffer.count / 2 {
            // At least as many bytes were returned before as this call moves.
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole message, without its length; nil when more bytes are needed.
    ///
    /// Throws `.malformed` for a length that is not in its shortest form, and `.tooLarge` for a length above the limit,
    /// as soon as the length has arrived. Every later call throws the same error.
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
            // Four bytes hold 28 bits, more than any allowed length.
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
