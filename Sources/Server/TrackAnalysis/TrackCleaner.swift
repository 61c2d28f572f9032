/// From the raw track to the cleaned one: radius limit, denoising, collapse of stops. Fed in chunks of any size.
package struct TrackCleaner: Sendable {
    private var limit: RadiusLimit?
    private var denoiser: Denoiser?
    private var collapse: StopCollapse?
    private var count = 0
    /// Reused between chunks.
    private var buffer: [TrackSample] = []

    /// Why points of the track are missing in the result.
    package private(set) var drops = DropLedger()

    package init(_ options: CleaningOptions) {
        limit = options.radiusLimit.map(RadiusLimit.init(metres:))
        denoiser = options.speedCap.map { Denoiser(speedCap: $0, believesMotion: options.believesMotion) }
        collapse = options.collapsesStops ? StopCollapse() : nil
    }

    /// Takes the next points of the track; appends to `kept` those that are decided now.
    package mutating func add(_ chunk: TrackColumns, to kept: inout [TrackSample]) {
        for position in 0..<chunk.count {
            let sample = chunk.sample(at: position, index: count)
            count += 1
            if limit == nil {
                denoise(sample, to: &kept)
            } else {
                limit?.add(sample, to: &buffer, &drops)
                if let sample = buffer.popLast() { denoise(sample, to: &kept) }
            }
        }
    }

    /// No point comes any more; appends to `kept` what was held.
    package mutating func finish(to kept: inout [TrackSample]) {
        denoiser?.finish(to: &buffer, &drops)
        for sample in buffer { settle(sample, to: &kept) }
        buffer.removeAll(keepingCapacity: true)
        collapse?.finish(to: &kept, &drops)
    }

    /// A whole track, and why points are missing.
    package static func clean(
        _ columns: TrackColumns, _ options: CleaningOptions
    ) -> (samples: [TrackSample], drops: DropLedger) {
        var cleaner = TrackCleaner(options)
        var kept: [TrackSample] = []
        kept.reserveCapacity(columns.count)
        cleaner.add(columns, to: &kept)
        cleaner.finish(to: &kept)
        return (kept, cleaner.drops)
    }

    private mutating func denoise(_ sample: TrackSample, to kept: inout [TrackSample]) {
        guard denoiser != nil else { return settle(sample, to: &kept) }
        denoiser?.add(sample, to: &buffer, &drops)
        for sample in buffer { settle(sample, to: &kept) }
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func settle(_ sample: TrackSample, to kept: inout [TrackSample]) {
        guard collapse != nil else { return kept.append(sample) }
        collapse?.add(sample, to: &kept, &drops)
    }
}
