/// How a track is cleaned.
package struct CleaningOptions: Hashable, Sendable {
    /// Samples with a larger radius are dropped, metres; nil for no limit.
    package var radiusLimit: Double?
    /// m/s; nil to leave excursions in.
    package var speedCap: Double?
    /// Whether steps that are one motion may be faster than the cap. Not where the client has named a slow mode.
    package var believesMotion: Bool
    /// Whether the drift of stops is taken out.
    package var collapsesStops: Bool

    package init(
        radiusLimit: Double? = nil, speedCap: Double? = nil, believesMotion: Bool = true, collapsesStops: Bool = false
    ) {
        self.radiusLimit = radiusLimit
        self.speedCap = speedCap
        self.believesMotion = believesMotion
        self.collapsesStops = collapsesStops
    }

    /// The Web API's `denoise_grade` 0 ... 5; other numbers count as the nearest.
    ///
    /// Grade 0 leaves every point where it is, in stops too: a client that turns denoising off wants its points. The
    /// grades above 1 also limit the radius. A limit that was given besides counts when it is stricter.
    package init(
        denoiseGrade grade: Int, radiusLimit given: Double? = nil, speedCap: Double, believesMotion: Bool = true
    ) {
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
        self.believesMotion = believesMotion
        collapsesStops = grade > 0
    }
}
