import TrackModel
import TrackStore

/// How the vehicles of all services are, in numbers. Reads the store at most every 15 s, however often it is asked.
actor FleetFigures {
    typealias Counts = (troubles: [VehicleTrouble.Kind: Int], well: (told: Int, untold: Int))

    /// The store hears of vehicles no more often.
    private static let milliseconds: Int64 = 15_000

    private let store: any TrackStore
    private var known: (at: Timestamp, counts: Counts)?

    init(_ store: any TrackStore) { self.store = store }

    /// Nil: the store cannot tell.
    func counts(at now: Timestamp) async -> Counts? {
        if let known, (0..<Self.milliseconds).contains(now.milliseconds(since: known.at)) { return known.counts }
        do throws(TrackStoreError) {
            let fleet = FleetHealth(try await store.allHealth(in: nil), devices: try await devices(), at: now)
            known = (now, (fleet.counts, fleet.well))
        } catch {
            known = nil
        }
        return known?.counts
    }

    /// In one page: each page would sort all of them again.
    private func devices() async throws(TrackStoreError) -> [DeviceRecord] {
        try await store.devices(in: nil, page: Page(offset: 0, limit: .max)).devices
    }
}
