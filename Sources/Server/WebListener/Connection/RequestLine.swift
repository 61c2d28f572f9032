import NIOCore

/// Percent-encodes the bytes of a request's first line that are not ASCII, as the client should have done.
///
/// Some clients write a name such as 京A12345 into the query as it is. The published service takes it; the HTTP decoder
/// ends the connection.
///
/// Where requests begin and end, only the decoder knows, and tells. Between an end and a beginning all bytes are of the
/// first line or of the headers, so no body is ever changed. The first line of a request stays as it is when it comes
/// together with the end of the request before.
struct RequestLine {
    private enum Place { case before, inside, behind }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let digits = Array("0123456789ABCDEF".utf8)

    private var place = Place.before

    /// The next bytes of the connection, as the decoder takes them.
    mutating func escaped(_ bytes: ByteBuffer) -> ByteBuffer {
        let line = rest(in: bytes.readableBytesView)
        guard line.contains(where: { $0 >= 0x80 }) else { return bytes }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(bytes.readableBytes + 2 * line.count)
        for byte in line {
            if byte < 0x80 {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return ByteBuffer(bytes: escaped + bytes.readableBytesView[line.endIndex...])
    }

    /// The decoder has seen the headers of a request: its body comes next.
    mutating func requestBegan() { place = .behind }

    /// The decoder has seen the end of a request: what comes next begins another one.
    mutating func requestEnded() { place = .before }

    /// What these bytes have of the line.
    private mutating func rest(in bytes: ByteBufferView) -> Slice<ByteBufferView> {
        var end = bytes.startIndex
        while place != .behind, end < bytes.endIndex {
            switch bytes[end] {
            // Empty lines may come before a request.
            case Self.lineFeed where place == .before, Self.carriageReturn where place == .before: break
            case Self.lineFeed: place = .behind
            default: place = .inside
            }
            end += 1
        }
        return Slice(base: bytes, bounds: bytes.startIndex..<end)
    }
}

/// Carries out ``RequestLine`` before the HTTP decoder; its ``ConnectionGuard`` tells it where requests begin and end.
final class RequestLineEscaper: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var line = RequestLine()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(wrapInboundOut(line.escaped(unwrapInboundIn(data))))
    }

    func requestBegan() { line.requestBegan() }

    func requestEnded() { line.requestEnded() }
}

/// The target of a request without the scheme and the host that a client names to a proxy.
///
/// Behind the decoder an address with a host would be taken apart by rules for whole addresses. When it has a character
/// that should have been encoded, such as |, they encode all of it once more, and each %E4 of it means other text.
enum OriginForm {
    static func of(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/") else { return target }
        for scheme in ["http://", "https://"] where target.prefix(scheme.count).lowercased() == scheme {
            let rest = target.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" && $0 != "#" }
            return rest.first == "/" ? String(rest) : "/\(rest)"
        }
        return target
    }
}
