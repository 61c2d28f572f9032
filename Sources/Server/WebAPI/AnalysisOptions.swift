/// What an operator may choose about what is computed from tracks.
package struct AnalysisOptions: Hashable, Sendable {
    /// km/h that nothing in the fleet reaches: a step that is faster is no movement. 20...1200, up to which aircraft fly.
    package var speedCap: Double
    /// The server tells walks and rides from drives also when the client does not ask for it.
    package var detectsTravel: Bool
    /// What the straight line across an interruption is multiplied with where a route was asked for and none is known,
    /// 1...5.
    package var supplementFactor: Double
    /// Bytes of tracks that are kept in memory, 0 or more, for the calls that ask for the same ones.
    package var keptBytes: Int

    package init(
        speedCap: Double = 200, detectsTravel: Bool = false, supplementFactor: Double = 1, keptBytes: Int = 64 << 20
    ) {
        self.speedCap = speedCap
        self.detectsTravel = detectsTravel
        self.supplementFactor = supplementFactor
        self.keptBytes = keptBytes
    }

    /// ``speedCap`` in m/s.
    var metresASecond: Double { speedCap / 3.6 }
}
