internal import Geodesy
package import TrackAnalysis

/// What of a track is sent to the engine, and in which calls.
///
/// The track is split where no path can be found: at silences, at breaks, at steps that the engine does not take, at the
/// antimeridian. Each part is thinned, because more points are worse: the noise of dense points is matched as zigzag.
/// Parts are cut into chunks that overlap.
package struct TracePlan: Hashable, Sendable {
    /// Metres: the engine breaks a path at 2,000.
    static let longestStep = 1900.0
    /// Metres within which a part stands.
    static let standing = 20.0
    /// Times the median radius that sent points are apart, and the bounds of that, metres. A radius is read as a 95 %
    /// error.
    static let radii = 2.5
    static let spacing = 30.0...120.0
    /// Points and metres of one call: the engine takes 16,000 and 200,000.
    static let chunkPoints = 1000
    static let chunkMetres = 100_000.0
    /// Points that neighbouring chunks share.
    static let overlap = 40

    /// The cleaned track.
    package let samples: [TrackSample]
    package let parts: [TracePart]
    package let chunks: [TraceChunk]

    package init(_ samples: [TrackSample]) {
        self.samples = samples
        let parts = Self.ranges(samples).map { Self.part($0, of: samples) }
        self.parts = parts
        chunks = parts.enumerated().flatMap { Self.chunks($0, $1, of: samples) }
    }

    /// The points of a call.
    package func samples(of chunk: TraceChunk) -> [TrackSample] {
        parts[chunk.part].sent[chunk.range].map { samples[$0] }
    }

    // MARK: Parts

    private static func ranges(_ samples: [TrackSample]) -> [Range<Int>] {
        guard !samples.isEmpty else { return [] }
        var ranges: [Range<Int>] = []
        var start = 0
        for position in 1..<max(samples.count, 1) where isCut(samples[position - 1], samples[position]) {
            ranges.append(start..<position)
            start = position
        }
        return ranges + [start..<samples.count]
    }

    private static func isCut(_ before: TrackSample, _ after: TrackSample) -> Bool {
        after.followsBreak || after.milliseconds(since: before) >= Interruption.span
            || before.distance(to: after) > longestStep
            || (before.place.longitude - after.place.longitude).magnitude > 180
    }

    private static func part(_ range: Range<Int>, of samples: [TrackSample]) -> TracePart {
        let first = samples[range.lowerBound]
        guard range.contains(where: { samples[$0].distance(to: first) > standing }) else {
            return TracePart(range: range, sent: [])
        }
        let radii = range.compactMap { samples[$0].radius }.sorted()
        let median = radii.isEmpty ? 0 : radii[radii.count / 2]
        let apart = max(spacing.lowerBound, min(spacing.upperBound, Self.radii * median))
        var sent = [range.lowerBound]
        var last = first
        for position in range.dropFirst() where samples[position].distance(to: last) >= apart {
            sent.append(position)
            last = samples[position]
        }
        let end = range.upperBound - 1
        if sent[sent.count - 1] != end { sent.append(end) }
        return TracePart(range: range, sent: sent)
    }

    // MARK: Chunks

    private static func chunks(_ number: Int, _ part: TracePart, of samples: [TrackSample]) -> [TraceChunk] {
        guard part.sent.count > 1 else { return [] }
        var chunks: [TraceChunk] = []
        var start = 0
        while true {
            let end = chunkEnd(start, part.sent, samples)
            let isLast = end == part.sent.count
            chunks.append(
                TraceChunk(
                    part: number, range: start..<end,
                    owned: (start > 0 ? start + overlap / 2 : 0)..<(isLast ? end : end - overlap / 2)))
            if isLast { return chunks }
            start = end - overlap
        }
    }

    private static func chunkEnd(_ start: Int, _ sent: [Int], _ samples: [TrackSample]) -> Int {
        var metres = 0.0
        var end = start + 1
        while end < sent.count, end - start < chunkPoints {
            metres += samples[sent[end - 1]].distance(to: samples[sent[end]])
            // The longest steps alone leave more points than neighbours share.
            if metres > chunkMetres { break }
            end += 1
        }
        return end
    }
}

/// Points that are sent to the engine in one call.
package struct TraceChunk: Hashable, Sendable {
    /// Which part of the track.
    package let part: Int
    /// Which of the part's sent points.
    package let range: Range<Int>
    /// Those of them that this chunk places. The rest gives context: the chunk beside it is farther from its own end
    /// there.
    package let owned: Range<Int>
}

/// A stretch of a track in which the engine may find one path.
package struct TracePart: Hashable, Sendable {
    /// Positions in the track.
    package let range: Range<Int>
    /// Positions in the track of the points that are sent, the ends of the range among them; empty when the part stands
    /// at one place and is not sent.
    package let sent: [Int]
}

/// What is matched to tell the road of the latest point.
package enum LatestStretch {
    /// Samples, and milliseconds before the last of them: the call is polled, so little is sent.
    static let most = 30
    static let span: Int64 = 120_000

    /// The end of a denoised track; empty when the vehicle is parked, because car parks have no roads.
    package static func samples(of track: [TrackSample]) -> [TrackSample] {
        guard let last = track.last, !last.isParked, !last.isInStop else { return [] }
        return Array(track.suffix(most).drop { last.milliseconds(since: $0) > span })
    }
}
