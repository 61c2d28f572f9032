import WebAPI

extension ServerConfiguration.Analysis {
    /// The same for the Web API.
    var options: AnalysisOptions {
        AnalysisOptions(
            speedCap: Double(kilometresAnHour), detectsTravel: transportMode == .detect,
            supplementFactor: supplementFactor, keptBytes: keptBytes)
    }
}
