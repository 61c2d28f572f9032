import HTTPTypes
import Hummingbird
import HummingbirdCore
import WebAPI

extension WebListener {
    /// A file, or the part of it that the client wants to go on with.
    func respond(
        with file: ServedFile, _ former: HTTPFields, to request: Request, _ context: ListenerContext
    ) async throws -> Response {
        var fields = former
        fields[.acceptRanges] = "bytes"
        let last = file.bytes - 1
        var (status, range): (HTTPResponse.Status, ClosedRange<Int64>) = (.ok, 0...max(last, 0))
        switch Self.range(request.headers[.range], last: last) {
        case .all: break
        case .part(let part):
            (status, range) = (.partialContent, part)
            fields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound)/\(file.bytes)"
        case .beyond:
            fields[.contentRange] = "bytes */\(file.bytes)"
            fields[.contentLength] = "0"
            return Response(status: .rangeNotSatisfiable, headers: fields, body: ResponseBody())
        }
        fields[.contentLength] = String(range.count)
        guard request.method != .head else { return Response(status: status, headers: fields, body: ResponseBody()) }
        let body = try await FileIO().loadFile(
            path: path(of: file), range: Int(range.lowerBound)...Int(range.upperBound), context: context,
            chunkLength: Self.pieceBytes)
        return Response(status: status, headers: fields, body: body)
    }

    enum WantedRange: Hashable {
        case all
        case part(ClosedRange<Int64>)
        case beyond
    }

    /// One range of bytes (RFC 9110, 14.2). A header that is something else counts as none, which the RFC allows.
    static func range(_ header: String?, last: Int64) -> WantedRange {
        guard let header, header.hasPrefix("bytes="), last >= 0 else { return .all }
        let ends = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .all }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let end?) where first >= 0 && first <= end:
            return first > last ? .beyond : .part(first...min(end, last))
        case (let first?, nil) where first >= 0 && ends[1].isEmpty:
            return first > last ? .beyond : .part(first...last)
        case (nil, let count?) where ends[0].isEmpty && count > 0:
            return .part(max(0, last - count + 1)...last)
        default: return .all
        }
    }
}
