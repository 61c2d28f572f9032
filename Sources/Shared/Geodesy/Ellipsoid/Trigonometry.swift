/// Sine and cosine from additions and multiplications only.
///
/// The C library's functions may differ in the last bit between two machines. A fence is judged on the vehicle and at the
/// server, and both must come to the same verdict, so the verdict uses these functions.
enum Trigonometry {
    /// Sine and cosine of an angle in degrees within -90...90, with an error of about one unit in the last place.
    @inline(__always)
    static func sineAndCosine(_ degrees: Double) -> (sine: Double, cosine: Double) {
        let size = degrees.magnitude
        let isSteep = size > 45
        // The subtraction is exact: both numbers are within a factor of two.
        let (sine, cosine) = reduced((isSteep ? 90 - size : size) * (Double.pi / 180))
        let (upright, flat) = isSteep ? (cosine, sine) : (sine, cosine)
        return (degrees < 0 ? -upright : upright, flat)
    }

    /// Taylor's series for an angle in radians within 0...pi / 4. The first term left out is below 1e-17.
    @inline(__always)
    private static func reduced(_ angle: Double) -> (sine: Double, cosine: Double) {
        let square = angle * angle
        var sine = 1 / 355_687_428_096_000.0
        sine = sine * square - 1 / 1_307_674_368_000.0
        sine = sine * square + 1 / 6_227_020_800.0
        sine = sine * square - 1 / 39_916_800.0
        sine = sine * square + 1 / 362_880.0
        sine = sine * square - 1 / 5040.0
        sine = sine * square + 1 / 120.0
        sine = sine * square - 1 / 6.0
        var cosine = 1 / 20_922_789_888_000.0
        cosine = cosine * square - 1 / 87_178_291_200.0
        cosine = cosine * square + 1 / 479_001_600.0
        cosine = cosine * square - 1 / 3_628_800.0
        cosine = cosine * square + 1 / 40_320.0
        cosine = cosine * square - 1 / 720.0
        cosine = cosine * square + 1 / 24.0
        cosine = cosine * square - 1 / 2.0
        return (angle + angle * square * sine, 1 + square * cosine)
    }
}
