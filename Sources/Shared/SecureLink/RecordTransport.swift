internal import COpenSSL
internal import NIOCore

/// The two buffers between OpenSSL and the channel: received bytes and bytes to send, both encrypted.
///
/// OpenSSL reaches the buffers through a BIO of our own. So bytes are copied as seldom as possible, and an idle
/// connection holds no buffer. The BIO's pointer to this object is unretained: ``TLSSession`` owns both and frees the
/// BIO first.
final class RecordTransport {
    private(set) var inbound = ByteBuffer()
    private(set) var outbound = ByteBuffer()

    /// Adds bytes from the peer.
    func receive(_ bytes: ByteBuffer) {
        if inbound.readableBytes == 0 {
            inbound = bytes
        } else {
            inbound.writeImmutableBuffer(bytes)
        }
    }

    /// Takes the bytes for the peer; nil when there are none.
    func takeOutbound() -> ByteBuffer? {
        guard outbound.readableBytes > 0 else { return nil }
        defer { outbound = ByteBuffer() }
        return outbound
    }

    /// Makes a BIO on these buffers; nil when out of memory.
    func makeBIO() -> OpaquePointer? {
        guard let method = unsafe bufferMethod, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    fileprivate func read(into destination: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(destination.count, inbound.readableBytes)
        guard count > 0 else { return 0 }
        unsafe inbound.readWithUnsafeReadableBytes { source in
            unsafe destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
            return count
        }
        // Frees the memory as soon as all bytes were read.
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
        return count
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        unsafe outbound.writeBytes(bytes)
    }

    fileprivate static func of(_ bio: OpaquePointer?) -> RecordTransport? {
        guard let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<RecordTransport>.fromOpaque(data).takeUnretainedValue()
    }
}

/// `nonisolated(unsafe)`: made once, never changed and never freed.
private nonisolated(unsafe) let bufferMethod: OpaquePointer? = {
    guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "saker record transport")
    else { return nil }
    unsafe BIO_meth_set_read(method) { bio, destination, count in
        unsafe saker_BIO_clear_retry_flags(bio)
        guard let transport = unsafe RecordTransport.of(bio), count > 0 else { return 0 }
        let read = unsafe transport.read(
            into: UnsafeMutableRawBufferPointer(start: destination, count: Int(count)))
        if read > 0 { return Int32(read) }
        // An empty buffer is not the end of the stream: OpenSSL must ask again.
        unsafe saker_BIO_set_retry_read(bio)
        return -1
    }
    unsafe BIO_meth_set_write(method) { bio, source, count in
        unsafe saker_BIO_clear_retry_flags(bio)
        guard let transport = unsafe RecordTransport.of(bio), count > 0 else { return 0 }
        unsafe transport.write(UnsafeRawBufferPointer(start: source, count: Int(count)))
        return count
    }
    // OpenSSL flushes after each flight and needs a yes. Its other commands do not matter here.
    unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in
        command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0
    }
    return unsafe method
}()
