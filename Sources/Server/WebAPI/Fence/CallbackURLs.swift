import JSON
import TrackStore

extension FenceEndpoints {
    /// `fence/seturl`: the URL is asked first whether it takes alarms. The same URL keeps its secret.
    static let setURL = Endpoint("fence/seturl", .post, ["url"]) { (call, store: any CallbackStore) in
        let url = try call.parameters.required("url")
        let old = try await store.callback(of: call.service)
        let target = CallbackTarget(url: url, secret: old?.url == url ? old?.secret ?? secret() : secret())
        if let problem = target.problem { throw APIFailure(.parameter, "url: \(problem)") }
        if let problem = await call.checkCallback(target, call.service) { throw APIFailure(.parameter, problem) }
        try await store.setCallback(target, of: call.service)
        return Answer { $0.member("secret", target.secret) }
    }

    /// `fence/cancelurl`: what waits is not sent any more.
    static let cancelURL = Endpoint("fence/cancelurl", .post, []) { (call, store: any CallbackStore) in
        try await store.setCallback(nil, of: call.service)
        return .done
    }

    /// `fence/queryurl`: the URL, empty when there is none. The secret is told only to whoever sets the URL.
    static let queryURL = Endpoint("fence/queryurl", .get, []) { (call, store: any CallbackStore) in
        let target = try await store.callback(of: call.service)
        return Answer { $0.member("url", target?.url ?? "") }
    }

    /// 64 hexadecimal digits of the system's random numbers.
    private static func secret() -> String {
        (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }
}
