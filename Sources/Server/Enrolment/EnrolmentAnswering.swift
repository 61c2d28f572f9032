/// Who answers claims and renewals for a listener.
package protocol EnrolmentAnswering: Sendable {
    func answer(_ call: EnrolmentCall) async -> EnrolmentReply
    /// For a call that came without TLS, whose body nobody looks at.
    func refusePlainHTTP(from address: String?) -> EnrolmentReply
    /// For a call whose body is over ``EnrolmentCall/maximumBodyBytes``.
    func refuseLarge(from address: String?) -> EnrolmentReply
}
