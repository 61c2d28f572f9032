import TrackModel

@testable import TrackWire

/// The track protocol: what a peer on the network may send to either end.
enum WireProperties {
    /// First byte: how many bytes arrive at a time. The rest: the stream.
    @Sendable static func checkFrames(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let size = Int(reader.byte())
        let whole = frames(reader.pieces(of: .max))
        let pieces = frames(reader.pieces(of: size))
        try require(whole == pieces, "the frames depend on how the bytes arrived")
        for message in whole.frames {
            try checkMessage(message)
        }
    }

    private struct Outcome: Equatable {
        var frames: [[UInt8]] = []
        var error: WireError?
    }

    private static func frames(_ pieces: [ArraySlice<UInt8>]) -> Outcome {
        var decoder = FrameDecoder(maximumFrameBytes: 4096)
        var outcome = Outcome()
        for piece in pieces {
            decoder.append(piece)
            do throws(WireError) {
                while let frame = try decoder.next() { outcome.frames.append(frame) }
            } catch {
                outcome.error = error
            }
        }
        return outcome
    }

    private static func checkMessage(_ message: [UInt8]) throws {
        if let frame = try decoded({ () throws(WireError) in try WireCodec.decodeClient(message) }) {
            let again = try WireCodec.decodeClient(body(of: WireCodec.encode(frame)))
            try require(again == frame, "a client's message is another one after encoding and decoding")
        }
        if let frame = try decoded({ () throws(WireError) in try WireCodec.decodeServer(message) }) {
            let again = try WireCodec.decodeServer(body(of: WireCodec.encode(frame)))
            try require(again == frame, "a server's message is another one after encoding and decoding")
        }
    }

    private static func body(of frame: [UInt8]) throws -> [UInt8] {
        var decoder = FrameDecoder()
        decoder.append(frame)
        let body = try decoder.next()
        try require(decoder.bufferedBytes == 0, "a frame is longer than it says")
        return body ?? []
    }

    /// First byte: 1 when the rest is compressed. The rest: a batch payload.
    @Sendable static func checkBatch(_ input: [UInt8]) throws {
        var reader = InputReader(input)
        let isCompressed = reader.byte() & 1 == 1
        let bytes = Array(reader.rest)
        let points = try decoded { () throws(WireError) in
            try BatchCodec.decode(bytes, isCompressed: isCompressed, maximumCount: 2000)
        }
        if let points {
            try require(points.count <= 2000, "more points than allowed")
            let batch = BatchCodec.encode(points)
            try require(batch.count == points.count, "the count is not that of the points")
            let again = try BatchCodec.decode(batch.bytes, isCompressed: batch.isCompressed)
            // By text: a double that is no number is not equal to itself.
            try require(again == points || "\(again)" == "\(points)", "points change on their way")
        }
        if !isCompressed,
            let point = try decoded({ () throws(WireError) in try PointRecord.decode(bytes) })
        {
            try require(points == [point], "a record and a batch of one point are read differently")
            try require(try PointRecord.decode(PointRecord.encode(point)) == point, "a point changes on its way")
        }
    }

    /// Nil when the bytes were refused, with a reason.
    private static func decoded<Value>(_ body: () throws(WireError) -> Value) throws(Violation) -> Value? {
        do throws(WireError) {
            return try body()
        } catch {
            try require(!error.detail.isEmpty, "an error without a reason")
            return nil
        }
    }
}
