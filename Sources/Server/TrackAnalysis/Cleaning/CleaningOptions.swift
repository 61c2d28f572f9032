/// How a track is cleaned.
package struct CleaningOptions: Hashable, Sendable {
    /// Samples with a larger radius are dropped, metres; nil for no limit.
    package var radiusLimit: Double?
    /// m/s; nil to leave excursions in.
    package var speedCap: Double?
    /// Whether the drift of stops is taken out.
    package var collapsesStops: Bool

    package init(radiusLimit: Double? = nil, speedCap: Double? = nil, collapsesStops: Bool = false) {
        self.radiusLimit = radiusLimit
        self.speedCap = speedCap
        self.collapsesStops = collapsesStops
    }

    /// The Web API's `denoise_grade` 0 ... 5; other numbers count as the nearest.
    ///
    /// Grade 0 leaves every point where it is, in stops too: a client that turns denoising off wants its points. The
    /// grades above 1 also limit the radius. A limit that was given besides counts when it is stricter.
    package init(denoiseGrade grade: Int, radiusLimit given: Double? = nil, speedCap: Double) {
        let ofGrade: Double? =
            switch grade {
            case ...1: nil
            case 2: 500
            case 3: 100
            case 4: 50
            default: 20
            }
        radiusLimit = [ofGrade, given].compactMap { $0 }.min()
        self.speedCap = grade > 0 ? speedCap : nil
        collapsesStops = grade > 0
    }
}
