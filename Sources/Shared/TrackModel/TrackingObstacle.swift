/// What keeps a point that is gathered now from reaching the server until a person helps. Programs read the raw values, so the raw
/// values never change.
package enum TrackingObstacle: String, Hashable, Sendable, CaseIterable {
    /// Somebody has stopped the service, or nobody has started it.
    case serviceStopped = "service_stopped"
    /// Somebody has stopped gathering, or nobody has started it.
    case gatheringOff = "gathering_off"
    /// gpsd does not answer, has no receiver, may not be asked, or its receiver sends nothing.
    case noReceiver = "no_receiver"
    /// The receiver has no position, and no point was made for a while.
    case noFix = "no_fix"
    /// The receiver's fixes have no time.
    case noTime = "no_time"
    /// The receiver's reports have no place, or none on the earth.
    case noPlace = "no_place"
    /// The receiver tells the same time again and again.
    case clockStands = "clock_stands"
    /// The receiver's date and the computer's clock disagree.
    case wrongDate = "wrong_date"
    /// The fixes are not later than the last point.
    case notLater = "not_later"
    /// The fixes are dated far ahead, and the fixes that follow do not confirm this.
    case unconfirmedTime = "unconfirmed_time"
    /// The error of the fixes is larger than the desired accuracy.
    case inaccurate
    /// The vehicle cannot have come to the places of the fixes.
    case implausible
    /// Fixes come, and no point stands in the cache.
    case noPoints = "no_points"
    /// Points are lost now.
    case losingPoints = "losing_points"
    /// The connection is refused until a person helps: by the server, or by this vehicle.
    case loginRefused = "login_refused"
    /// The vehicle's own certificate has ended.
    case certificateEnded = "certificate_ended"
    /// An obstacle that this program does not know.
    case other
}
