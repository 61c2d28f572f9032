import TrackModel
import TrackStore

/// How often each vehicle logs in. Knows no clock and no store.
///
/// Only logins that have proved who they are count: otherwise a stranger could lock a vehicle out with its name.
struct LoginRates {
    /// Vehicles that logged in lately; a tenth of them is forgotten for a further one.
    static let mostVehicles = 100_000

    private struct Account {
        /// Milliseconds of room that are used.
        var used: Int64 = 0
        var at: Timestamp
    }

    private let most: Int
    private let interval: Int64
    private var accounts: [EntityKey: Account] = [:]

    init(_ limits: GatewayLimits) {
        (most, interval) = (max(1, limits.logins), max(1, limits.loginInterval))
    }

    var count: Int { accounts.count }

    /// Nil: the vehicle may log in. Otherwise the milliseconds until it may.
    mutating func arrives(_ vehicle: EntityKey, at now: Timestamp) -> Int64? {
        if accounts[vehicle] == nil, accounts.count >= Self.mostVehicles { makeRoom() }
        var account = accounts[vehicle] ?? Account(at: now)
        // A clock that was set back gives nothing.
        account.used = max(0, account.used - max(0, now.milliseconds(since: account.at)))
        account.at = now
        let room = Int64(most) * interval - account.used
        guard room >= interval else {
            accounts[vehicle] = account
            return interval - room
        }
        account.used += interval
        accounts[vehicle] = account
        return nil
    }

    private mutating func makeRoom() {
        let oldest = accounts.sorted { $0.value.at < $1.value.at }.prefix(max(Self.mostVehicles / 10, 1))
        for (vehicle, _) in oldest { accounts[vehicle] = nil }
    }
}

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
