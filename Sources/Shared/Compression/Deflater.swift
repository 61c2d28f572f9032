internal import CZlib

/// Compresses bytes piece by piece to one raw deflate stream (RFC 1951), as a zip file holds it.
@safe package struct Deflater: ~Copyable {
    /// zlib keeps this address in its own state, so the structure must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var piece = [UInt8](repeating: 0, count: 65_536)

    /// `level` is 1 (fast) ... 9 (small).
    package init(level: Int32) throws(CompressionError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // A negative window says that neither zlib's header nor its checksum stands around the stream.
        let code = unsafe deflateInit2_(
            stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard code == Z_OK else {
            unsafe stream.deallocate()
            throw CompressionError(code: .outOfMemory)
        }
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Appends to `output` what zlib gives back for these bytes: nothing, or something, and with `isLast` the rest of the
    /// stream. After that call no other may follow.
    package mutating func compress(_ bytes: [UInt8], isLast: Bool = false, to output: inout [UInt8]) {
        var bytes = bytes
        unsafe bytes.withUnsafeMutableBufferPointer { input in
            unsafe stream.pointee.next_in = input.baseAddress
            unsafe stream.pointee.avail_in = UInt32(input.count)
            var isDone = false
            while !isDone {
                let count = unsafe piece.withUnsafeMutableBufferPointer { room in
                    unsafe stream.pointee.next_out = room.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(room.count)
                    unsafe _ = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    return unsafe room.count - Int(stream.pointee.avail_out)
                }
                output += piece[..<count]
                // With room left in the piece, zlib has taken everything.
                isDone = count < piece.count
            }
        }
    }
}
