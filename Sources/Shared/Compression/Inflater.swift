internal import CZlib

/// Decompresses one raw deflate stream (RFC 1951) piece by piece.
@safe package struct Inflater: ~Copyable {
    /// zlib keeps this address in its own state, so the structure must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var piece = [UInt8](repeating: 0, count: 65_536)
    private var input: [UInt8] = []
    private var consumed = 0
    /// The stream has ended: no more bytes belong to it.
    package private(set) var hasEnded = false

    package init() throws(CompressionError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // A negative window: neither zlib's header nor its checksum stands around the stream.
        let code = unsafe inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CompressionError(code: .outOfMemory)
        }
    }

    deinit {
        unsafe _ = inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// The next bytes of the stream. Drops what ``next()`` has not taken of the ones before.
    package mutating func feed(_ bytes: [UInt8]) { (input, consumed) = (bytes, 0) }

    /// What comes next out of the stream, 64 KiB at most: a small file can become a very large one. Nil when it wants more
    /// bytes, or has ended.
    package mutating func next() throws(CompressionError) -> [UInt8]? {
        guard !hasEnded else { return nil }
        var code = Z_OK
        let count = unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + consumed }
            unsafe stream.pointee.avail_in = UInt32(input.count - consumed)
            let count = unsafe piece.withUnsafeMutableBufferPointer { room in
                unsafe stream.pointee.next_out = room.baseAddress
                unsafe stream.pointee.avail_out = UInt32(room.count)
                code = unsafe inflate(stream, Z_NO_FLUSH)
                return unsafe room.count - Int(stream.pointee.avail_out)
            }
            consumed = unsafe input.count - Int(stream.pointee.avail_in)
            return count
        }
        switch code {
        case Z_STREAM_END: hasEnded = true
        case Z_OK, Z_BUF_ERROR: break
        case Z_MEM_ERROR: throw CompressionError(code: .outOfMemory)
        default: throw CompressionError(code: .malformed)
        }
        return count > 0 ? Array(piece[..<count]) : nil
    }
}
