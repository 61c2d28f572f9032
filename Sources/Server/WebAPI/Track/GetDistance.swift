import TrackStore

extension TrackEndpoints {
    /// `track/getdistance`
    static let distance = Endpoint("track/getdistance", .get, TrackQuery.parameters, about: \.namedEntity) {
        (call, store: any PointStore) in
        let query = try TrackQuery(call)
        let reading = try await TrackReading(query, call.options, store)
        return Answer { reading.writeDistance(query, to: &$0) }
    }
}
