package import JSON
package import NIOCore

/// One message as bytes, its closing NUL included. Copies share the bytes.
package struct VarlinkFrame: Hashable, Sendable {
    package let bytes: ByteBuffer

    init(_ message: [String: JSONValue]) {
        var serialized = JSONValue.object(message).serialized()
        serialized.append(0)
        bytes = ByteBuffer(bytes: serialized)
    }

    /// A reply that others follow.
    package init(continuing parameters: JSONValue) {
        self.init(["parameters": parameters, "continues": true])
    }

    /// The only or last reply.
    package init(last parameters: JSONValue) {
        self.init(["parameters": parameters])
    }

    package init(error: VarlinkError) {
        self.init(["error": .string(error.name), "parameters": .object(error.parameters)])
    }

    /// A call; `method` with its interface's name.
    package init(calling method: String, _ parameters: [String: JSONValue], more: Bool = false, oneway: Bool = false) {
        var message: [String: JSONValue] = ["method": .string(method), "parameters": .object(parameters)]
        if more { message["more"] = true }
        if oneway { message["oneway"] = true }
        self.init(message)
    }
}

/// Cuts a byte stream into messages. Pure; distrusts the sender's sizes.
struct MessageSplitter {
    enum Step: Hashable {
        /// A message without its NUL.
        case message([UInt8])
        /// The bytes so far hold no whole message.
        case incomplete
        /// The message that begins here is larger than allowed; nothing after it can be trusted.
        case tooLarge
    }

    let maximumMessageBytes: Int
    private(set) var buffer = ByteBuffer()
    /// Bytes at the front already searched for NUL, so that a message in many pieces is searched once.
    private var searched = 0

    init(maximumMessageBytes: Int) {
        self.maximumMessageBytes = maximumMessageBytes
    }

    var bufferedBytes: Int { buffer.readableBytes }

    mutating func append(_ bytes: inout ByteBuffer) {
        if buffer.readableBytes == 0 {
            // A message of a megabyte must not leave its storage behind.
            buffer = bytes
        } else {
            // Moving what is left costs no more than what was read: storage stays within twice what is buffered.
            if buffer.readerIndex >= buffer.readableBytes { buffer.discardReadBytes() }
            buffer.writeBuffer(&bytes)
        }
    }

    mutating func next() -> Step {
        let view = buffer.readableBytesView
        let start = view.index(view.startIndex, offsetBy: searched)
        guard let end = view[start...].firstIndex(of: 0) else {
            searched = view.count
            return searched > maximumMessageBytes ? .tooLarge : .incomplete
        }
        let length = view.distance(from: view.startIndex, to: end)
        guard length <= maximumMessageBytes, let message = buffer.readBytes(length: length) else { return .tooLarge }
        buffer.moveReaderIndex(forwardBy: 1)
        searched = 0
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return .message(message)
    }
}
