/// The way to the road engine: one request out, one answer back.
package protocol RoadTransport: Sendable {
    /// Returns or throws at most about `patience` milliseconds later. An answer of more than ``RoadReply/largestBody``
    /// bytes is `invalid`. Every status is an answer.
    func exchange(_ request: RoadRequest, within patience: Int64) async throws(RoadFailure) -> RoadReply
}
