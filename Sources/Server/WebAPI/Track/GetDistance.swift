import TrackStore

extension TrackEndpoints {
    /// `track/getdistance`
    static let distance = Endpoint(
        "track/getdistance", .get, TrackQuery.parameters + ["coord_type_output", "explain"], about: \.namedEntity
    ) { (call, store: any PointStore) in
        let query = try TrackQuery(call)
        let writer = try call.positionWriter()
        let reading = try await TrackReading.reading(query, call, store)
        return Answer { answer in
            reading.writeDistance(query, call.options, to: &answer)
            reading.holes.write(to: &answer)
            reading.writeExplanation(query, call.options, writer, to: &answer)
        }
    }
}
