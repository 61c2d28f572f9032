import JSON

/// What the operator's server said to a request.
package enum CallbackAnswer: Hashable, Sendable {
    case taken
    /// Why it does not count as taken: the end of a sentence about the operator's server.
    case failed(String)

    /// An answer counts as taken with status 200, the header `SignId: baidu_yingyan`, and `status` 0 in its body.
    package init(status: Int, signID: String?, body: [UInt8]) {
        guard status == 200 else {
            self = .failed("it answered with HTTP status \(status), not 200")
            return
        }
        guard signID == Self.signID else {
            self = .failed("its answer has no header \(Self.signHeader) with the value \(Self.signID)")
            return
        }
        guard let value = try? JSONReader.value(of: body), case .object = value else {
            self = .failed("its answer is no JSON object")
            return
        }
        guard value["status"]?.integerValue == 0 else {
            self = .failed("its answer has no member status with the value 0")
            return
        }
        self = .taken
    }

    package static let signHeader = "SignId"
    /// Of requests and answers, as the published service has it.
    package static let signID = "baidu_yingyan"
}
