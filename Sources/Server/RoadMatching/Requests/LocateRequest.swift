internal import JSON
package import TrackModel

/// Asks which roads there are around places.
package enum LocateRequest {
    /// Metres from a place within which a road counts: a yard or a field may be so large.
    static let reach: Int64 = 2000

    package static func request(for places: [Coordinate]) -> RoadRequest {
        var json = JSONWriter(wholeDoubles: .withoutPoint)
        json.object {
            $0.array("locations") { list in
                for place in places {
                    list.object {
                        $0.name("lat")
                        $0.rounded(place.latitude, digits: 7)
                        $0.name("lon")
                        $0.rounded(place.longitude, digits: 7)
                        $0.member("search_cutoff", reach)
                    }
                }
            }
            $0.member("costing", RoadCosting.car.rawValue)
        }
        return RoadRequest(method: .post, path: "/locate", body: json.bytes)
    }

    /// How many of the places have a road. Throws for an answer that is none.
    package static func known(_ reply: RoadReply) throws(RoadFailure) -> Int {
        if reply.status == 200, let value = try? JSONReader.value(of: reply.body, RoadReply.rules),
            let list = value.arrayValue
        {
            return list.count { $0["edges"]?.arrayValue?.isEmpty == false }
        }
        // An engine without any tiles may answer an error instead of a list.
        do throws(RoadFailure) {
            _ = try reply.object()
        } catch RoadFailure.noMapHere {
            return 0
        }
        throw .invalid
    }
}
