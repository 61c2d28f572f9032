internal import DriveSimulation
internal import Geodesy
internal import NIOCore
internal import TrackModel
internal import TrackWire

/// The batches of a drive as whole frames, made before the load begins. Vehicles that share a drive share the bytes.
/// That is possible because a frame names neither entity nor stream, and every stream counts its sequences from 1.
struct DriveFrames: Sendable {
    struct Frame: Sendable {
        var bytes: ByteBuffer
        /// Bytes of the payload, which the server's window counts.
        var payloadBytes: Int
        var lastSequence: UInt64
        var points: Int
    }

    /// Different drives of one fleet.
    private static let mostDrives = 16
    /// Points of all drives together: about 10 MB of frames, and a few seconds to make them.
    private static let mostPoints = 1_000_000

    let frames: [Frame]

    /// The drives of a fleet. Vehicle number n takes the drive with the number n modulo their count.
    static func drives(for plan: FleetPlan, now: Timestamp) throws(FleetError) -> [DriveFrames] {
        guard plan.pointsPerVehicle > 0 else { return [] }
        let count = max(1, min(mostDrives, plan.vehicles, mostPoints / plan.pointsPerVehicle))
        let length = Int64(plan.pointsPerVehicle + 3) * Int64(plan.gather) * 1000
        let start = plan.start ?? now.adding(milliseconds: -length)
        let route: Route
        do {
            route = try Route.cityLoop()
        } catch {
            throw FleetError(.plan, "the built-in route cannot be driven: \(error.detail)")
        }
        var drives: [DriveFrames] = []
        for number in 0..<count {
            let settings = DriveSettings(
                seed: plan.seed &+ UInt64(number) &* 0x9E37_79B9, speedLimit: Double(30 + 10 * (number % 9)) / 3.6)
            guard let drive = SimulatedDrive(route: route, settings: settings, start: start) else {
                throw FleetError(.plan, "the built-in route cannot be driven")
            }
            drives.append(DriveFrames(plan, drive))
        }
        return drives
    }

    private init(_ plan: FleetPlan, _ drive: SimulatedDrive) {
        var drive = drive
        var frames: [Frame] = []
        frames.reserveCapacity(plan.batchesPerVehicle)
        var first: UInt64 = 1
        var left = plan.pointsPerVehicle
        while left > 0 {
            var points: [TrackPoint] = []
            while points.count < min(plan.batch, left) {
                let epoch = drive.next()
                for _ in 1..<max(1, plan.gather) { _ = drive.next() }
                if let point = TrackPoint(epoch) { points.append(point) }
            }
            let batch = BatchCodec.encode(points)
            let bytes = WireCodec.encode(ClientFrame(.upload(Upload(batch, firstSequence: first))))
            first += UInt64(points.count)
            left -= points.count
            frames.append(
                Frame(
                    bytes: ByteBuffer(bytes: bytes), payloadBytes: batch.bytes.count, lastSequence: first - 1,
                    points: points.count))
        }
        self.frames = frames
    }
}

extension TrackPoint {
    /// The point that an agent makes of a fix with every field; nil for an epoch without a fix.
    fileprivate init?(_ epoch: SimulatedDrive.Epoch) {
        guard let solution = epoch.observation.solution,
            let coordinate = Coordinate(
                latitude: solution.position.latitude, longitude: solution.position.longitude)
        else { return nil }
        self.init(
            Fix(
                time: epoch.time, coordinate: coordinate, speed: Int32((solution.speed * 100).rounded()),
                course: solution.course.map { Int32(($0 * 10).rounded()) % 3600 },
                altitude: Int32((solution.altitude * 10).rounded()),
                accuracy: Int32((solution.horizontalDilution * 25).rounded()), mode: .threeDimensional,
                status: .plain, satellites: UInt8(clamping: epoch.observation.satellites.count { $0.isUsed })))
    }
}
