internal import SwiftProtobuf

/// Turns whole frames into bytes and back, so that other rooms need not know the encoding of messages.
package enum WireCodec {
    /// A complete frame: length and message. The receiver refuses a message over ``WireLimits/frameBytes``.
    package static func encode(_ frame: ClientFrame) -> [UInt8] {
        framed(frame)
    }

    /// A complete frame: length and message. The receiver refuses a message over ``WireLimits/frameBytes``.
    package static func encode(_ frame: ServerFrame) -> [UInt8] {
        framed(frame)
    }

    /// One message from ``FrameDecoder``. Throws `.malformed` for bytes that are no message, or an unknown kind.
    package static func decodeClient(_ bytes: [UInt8]) throws(WireError) -> ClientFrame {
        // Before the decoder puts the names into a table.
        if let longest = CallNames.longest(inFrame: bytes), longest > WireLimits.parameterNameBytes {
            throw WireError(
                .tooLarge,
                "a call's parameter has a name of \(longest) bytes, and \(WireLimits.parameterNameBytes) are the most")
        }
        let frame: ClientFrame = try message(bytes)
        guard frame.message != nil else { throw WireError(.malformed, "a client frame of an unknown kind") }
        return frame
    }

    /// One message from ``FrameDecoder``. Throws `.malformed` for bytes that are no message, or an unknown kind.
    package static func decodeServer(_ bytes: [UInt8]) throws(WireError) -> ServerFrame {
        let frame: ServerFrame = try message(bytes)
        guard frame.message != nil else { throw WireError(.malformed, "a server frame of an unknown kind") }
        return frame
    }

    private static func message<Frame: Message>(_ bytes: [UInt8]) throws(WireError) -> Frame {
        guard bytes.count <= WireLimits.frameBytes else {
            throw WireError(.tooLarge, "a message may have at most \(WireLimits.frameBytes) bytes")
        }
        do {
            // Unknown fields are dropped, so that a peer's extensions cost no memory here.
            return try Frame(serializedBytes: bytes, options: decodingOptions)
        } catch {
            throw WireError(.malformed, "\(Frame.protoMessageName): the bytes are not this message")
        }
    }

    private static let decodingOptions: BinaryDecodingOptions = {
        var options = BinaryDecodingOptions()
        options.discardUnknownFields = true
        options.messageDepthLimit = 8
        return options
    }()

    private static func framed(_ message: some Message) -> [UInt8] {
        // These messages have no required fields and no extensions, so encoding cannot fail.
        let body: [UInt8] = (try? message.serializedBytes()) ?? []
        var frame: [UInt8] = []
        frame.reserveCapacity(body.count + 5)
        var length = UInt64(body.count)
        while length >= 0x80 {
            frame.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        frame.append(UInt8(truncatingIfNeeded: length))
        frame += body
        return frame
    }
}
