/// How the entity travels, as its client says.
package enum TravelMode: Hashable, Sendable, CaseIterable {
    case automatic
    case driving
    case riding
    case walking

    /// Not somebody who walks or rides a bicycle, as the client says.
    package var isVehicle: Bool { self == .automatic || self == .driving }

    /// m/s above which a step between two points is no movement. `driving` is the cap of a vehicle, which is a setting.
    package func speedCap(driving: Double) -> Double {
        switch self {
        case .automatic, .driving: driving
        case .riding: 60 / 3.6
        case .walking: 20 / 3.6
        }
    }
}
