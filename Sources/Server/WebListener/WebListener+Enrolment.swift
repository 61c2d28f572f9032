import Admission
import Enrolment
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

extension WebListener {
    /// Nil when the request is no call of enrolment, or when nobody answers these.
    func enrol(_ request: Request, _ context: ListenerContext) async throws -> Response? {
        guard let desk else { return nil }
        let path = String((request.head.path ?? "").prefix { $0 != "?" })
        guard path.hasPrefix(EnrolmentCall.prefix) else { return nil }
        let channel = context.channel
        let address = channel.remoteAddress?.ipAddress
        let reply: EnrolmentReply
        if !isSecure {
            // Its body is not looked at: what it carries has been sent readable.
            reply = desk.refusePlainHTTP(from: address)
        } else if let body = try await smallBody(of: request, on: channel) {
            reply = await desk.answer(
                EnrolmentCall(
                    method: request.method.rawValue, path: path, body: body, address: address,
                    origin: EnrolmentLimits.Origin(
                        ClientAddress.group(channel.remoteAddress), site: ClientAddress.site(channel.remoteAddress))))
        } else {
            reply = desk.refuseLarge(from: address)
        }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.answerMade(bytes: reply.body.count), promise: nil)
        var fields = HTTPFields()
        fields[.contentType] = "application/json; charset=utf-8"
        fields[.cacheControl] = "no-store"
        fields[.contentLength] = String(reply.body.count)
        if let seconds = reply.retryAfter { fields[.retryAfter] = String(seconds) }
        return Response(
            status: HTTPResponse.Status(code: reply.status), headers: fields,
            body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
    }

    /// Nil when it is too large.
    private func smallBody(of request: Request, on channel: any Channel) async throws -> [UInt8]? {
        let most = EnrolmentCall.maximumBodyBytes
        guard (request.headers[.contentLength].flatMap { Int($0) } ?? 0) <= most else { return nil }
        channel.triggerUserOutboundEvent(ConnectionGuard.Event.bodyWanted, promise: nil)
        var body: [UInt8] = []
        for try await piece in request.body {
            guard body.count + piece.readableBytes <= most else { return nil }
            body += piece.readableBytesView
        }
        return body
    }
}
