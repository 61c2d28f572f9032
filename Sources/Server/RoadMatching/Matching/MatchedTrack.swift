package import TrackAnalysis

/// A track on roads, as far as they are known.
package struct MatchedTrack: Hashable, Sendable {
    /// One for each sample of the cleaned track.
    package internal(set) var samples: [RoadSample]
    /// The share of the sent points that is matched, for each part of the track that was sent.
    let partShares: [Double]
    /// How many sent points the engine put on a road at which they cannot have been.
    let disbelieved: Int

    /// The share of the samples that are on a road, 0 ... 1; 0 for an empty track.
    package var matched: Double {
        samples.isEmpty ? 0 : Double(samples.count { $0.edge != nil }) / Double(samples.count)
    }

    /// Metres on toll roads.
    package var toll: Double { samples.reduce(0) { $0 + $1.toll } }

    /// The length of the track: along roads where they are known, else along straight lines.
    package func length(slowBelow threshold: Double? = nil) -> TrackLength {
        var meter = LengthMeter(slowBelow: threshold)
        for road in samples { meter.add(road.sample, path: road.path) }
        return meter.result
    }

    /// How the vehicle was driven; the limits are those of the roads unless the options have one.
    ///
    /// `denoised` is the track before its stops were collapsed. A collapsed stop has speed 0 from its first sample on,
    /// where the vehicle still braked. Speeds and places are those of the fixes, ways and limits those of the roads.
    /// Events name their samples, so that the caller can show them on the road.
    /// With `alongRoads` false, only the limits are those of the roads, and ways are straight lines.
    package func behaviour(
        _ options: DrivingOptions, denoised: some Sequence<TrackSample>, alongRoads: Bool = true
    ) -> DrivingBehaviour {
        var analyzer = DrivingAnalyzer(options)
        if alongRoads {
            for road in samples { analyzer.travel(to: road.sample, path: road.path) }
        } else {
            var drops = DropLedger()
            for sample in StopCollapse.apply(StopCollapse(), to: denoised, &drops) { analyzer.travel(to: sample) }
        }
        var (position, before): (Int, RoadSample?) = (0, nil)
        for sample in denoised {
            while position < samples.count, samples[position].sample.index < sample.index { position += 1 }
            guard position < samples.count, samples[position].sample.index == sample.index else {
                // One of the many samples of a stop.
                analyzer.add(sample, limit: before?.edge?.limit, path: alongRoads ? 0 : nil)
                continue
            }
            let road = samples[position]
            let stands = road.sample.isInStop && before?.sample.isInStop == true
            let path = road.path ?? (stands ? 0 : nil)
            analyzer.add(sample, limit: road.edge?.limit, path: alongRoads ? path : nil)
            before = road
        }
        return analyzer.finish()
    }
}
