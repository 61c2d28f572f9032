import TrackAnalysis
import TrackModel
import TrackStore

/// A stored point as an answer shows it.
struct ShownPoint: Sendable {
    let stored: StoredPoint
    /// What processing tells of the point; nil for a track as it was uploaded.
    let processing: Processing?

    struct Processing: Sendable {
        /// Nil when the client said how the entity travels.
        let travel: TravelKind?
    }

    /// As it was uploaded.
    init(_ stored: StoredPoint) {
        self.stored = stored
        processing = nil
    }

    /// As it is in the processed track: a point of a stop stands at the mean place of the stop, and at rest.
    init(_ stored: StoredPoint, _ sample: TrackSample, travel: TravelKind?) {
        var point = stored.point
        if sample.isInStop,
            let place = Coordinate(latitudeE7: sample.latitudeE7, longitudeE7: sample.longitudeE7)
        {
            point.fix.coordinate = place
            point.coordinateType = .wgs84
            point.fix.speed = sample.speed
            point.fix.course = sample.course
        }
        self.stored = StoredPoint(point, received: stored.received)
        processing = Processing(travel: travel)
    }
}

extension ShownPoint.Processing {
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
