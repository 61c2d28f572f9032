import TrackModel
import TrackStore

extension APIRouter {
    /// The file of an export, for a client that has its address and, unless the operator does without, a key.
    func download(_ link: ExportLink, _ request: APIRequest, _ target: RequestTarget) async -> APIResponse {
        guard request.method == "GET" || request.method == "HEAD" else {
            return Self.refusal(405, APIFailure(.method))
        }
        do {
            let kept = now().adding(milliseconds: -ExportRules.kept)
            guard let job = try await store.export(token: link.token), job.state == .done, job.modified >= kept,
                let result = job.result
            else {
                return Self.refusal(
                    404, APIFailure(.parameter, "there is no such file, or it was kept for its 48 hours"))
            }
            if options.exportsNeedKey {
                let form = try RequestForm(request, query: target.query)
                do {
                    _ = try await authenticate(form, target, request, for: .read, service: job.service)
                } catch let failure as APIFailure {
                    return Self.refusal(403, failure)
                }
            }
            var response = APIResponse(
                headers: [
                    ("Content-Type", "application/zip"),
                    ("Content-Disposition", "attachment; filename=\"\(ExportLink(job).name)\""),
                    ("Access-Control-Allow-Origin", "*"), ("Cache-Control", "private, no-store"),
                    ("X-Content-Type-Options", "nosniff"),
                ], body: [], hasValidKey: true)
            response.file = ServedFile(token: job.token, bytes: result.bytes)
            return response
        } catch {
            return Self.refusal(500, APIFailure(error, of: "export/file", log: log))
        }
    }

    private static func refusal(_ httpStatus: Int, _ failure: APIFailure) -> APIResponse {
        var response = response(Answer(failure), callback: nil)
        response.httpStatus = httpStatus
        return response
    }
}
