import TrackModel
import TrackStore

/// Which calls of vehicles may be at work together. No vehicle and no service takes all places: a vehicle has a few, and a
/// service has more than half of them only while others can still come.
struct CallShares: Hashable {
    private let all: Int
    private let ofVehicle: Int
    private(set) var count = 0
    private var byVehicle: [EntityKey: Int] = [:]
    private var byService: [ServiceID: Int] = [:]

    init(_ limits: GatewayLimits) {
        (all, ofVehicle) = (limits.callsOfAll, limits.callsOfVehicle)
    }

    /// False: too many are at work. Otherwise the caller owes an ``end(_:)``.
    mutating func begin(_ vehicle: EntityKey) -> Bool {
        let ofService = byService[vehicle.service, default: 0]
        let isFair = ofService < (all + 1) / 2 || count < all - all / 4
        guard count < all, isFair, byVehicle[vehicle, default: 0] < ofVehicle else { return false }
        count += 1
        byVehicle[vehicle, default: 0] += 1
        byService[vehicle.service] = ofService + 1
        return true
    }

    mutating func end(_ vehicle: EntityKey) {
        count -= 1
        let (own, service) = (byVehicle[vehicle, default: 1] - 1, byService[vehicle.service, default: 1] - 1)
        byVehicle[vehicle] = own > 0 ? own : nil
        byService[vehicle.service] = service > 0 ? service : nil
    }
}
