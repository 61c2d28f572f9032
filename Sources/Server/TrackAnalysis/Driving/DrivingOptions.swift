/// The thresholds of driving behaviour; the defaults are the Web API's.
package struct DrivingOptions: Hashable, Sendable {
    /// km/h; 0 for the limits of the roads.
    package var speeding: Double
    /// m/s², positive.
    package var acceleration: Double
    /// m/s², negative.
    package var braking: Double
    /// m/s² towards the centre of the curve, positive.
    package var steering: Double

    package init(
        speeding: Double = 0, acceleration: Double = 1.67, braking: Double = -1.67, steering: Double = 5
    ) {
        self.speeding = speeding
        self.acceleration = acceleration
        self.braking = braking
        self.steering = steering
    }
}
