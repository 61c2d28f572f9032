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
