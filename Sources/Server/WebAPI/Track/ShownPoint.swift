import Geodesy
import JSON
import RoadMatching
import TrackAnalysis
import TrackModel
import TrackStore

/// A stored point as an answer shows it, or a corner of a road between stored points.
struct ShownPoint: Sendable {
    /// Of a corner, only time and place mean anything.
    let stored: StoredPoint
    /// What processing tells of the point; nil for a track as it was uploaded.
    let processing: Processing?

    struct Processing: Sendable {
        /// Nil when the client said how the entity travels.
        let travel: TravelKind?
        /// Nil when no road is known.
        let road: RoadLabel?
    }

    /// What added the point; nil for a stored point.
    let supplement: TrackLine.Kind?

    /// As it was uploaded.
    init(_ stored: StoredPoint) {
        self.stored = stored
        processing = nil
        supplement = nil
    }

    /// As it is in the processed track: a point of a stop stands at the mean place of the stop, and at rest; a matched
    /// point is on its road. `place`: of a point that was moved. A point of a stop keeps the course that was uploaded: clients whose
    /// points all have one read it of each point without asking.
    init(_ stored: StoredPoint, at place: Coordinate?, isInStop: Bool, travel: TravelKind?, road: RoadLabel?) {
        var point = stored.point
        if let place {
            point.fix.coordinate = place
            point.coordinateType = .wgs84
        }
        if isInStop { point.fix.speed = 0 }
        self.stored = StoredPoint(point, received: stored.received)
        processing = Processing(travel: travel, road: road)
        supplement = nil
    }

    /// The point where its sample is.
    static func placed(_ point: TrackPoint, _ sample: TrackSample) -> TrackPoint {
        guard let place = Coordinate(latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7) else {
            return point
        }
        var point = point
        point.fix.coordinate = place
        point.coordinateType = .wgs84
        return point
    }

    /// A corner of a road; nil for one that is nowhere on the earth.
    init?(_ corner: RoadVertex, _ kind: TrackLine.Kind) {
        guard let place = Coordinate(latitude: corner.place.latitude, longitude: corner.place.longitude) else {
            return nil
        }
        let fix = Fix(time: corner.time, coordinate: place)
        stored = StoredPoint(TrackPoint(fix), received: corner.time)
        processing = nil
        supplement = kind
    }
}

extension ShownPoint.Processing {
    /// Members that only a processed point has.
    func write(_ fix: Fix, to object: inout JSONWriter) {
        object.member("locate_mode", Self.locateMode(of: fix))
        if let transportMode { object.member("transport_mode", transportMode) }
        road?.write(to: &object)
    }

    /// How the place was found, in the words of the published service.
    static func locateMode(of fix: Fix) -> String {
        fix.mode != nil || fix.accuracy.map { $0 <= 200 } == true ? "GPS/北斗定位" : "未知"
    }

    /// In the words of the published service.
    var transportMode: String? {
        switch travel {
        case .standing: "停留"
        case .walking: "步行"
        case .riding: "骑行"
        case .driving: "驾车"
        case nil: nil
        }
    }
}
