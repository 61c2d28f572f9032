package import TrackAnalysis

/// The road engine's name for a way of travelling.
package enum RoadCosting: String, Hashable, Sendable, CaseIterable {
    case car = "auto"
    case truck
    case bus
    case motorScooter = "motor_scooter"
    case bicycle
    case pedestrian

    /// `driving` is what the operator's vehicles are. A car's costing matches trucks too; a truck's does not match
    /// roads that are closed to trucks.
    package static func of(_ mode: TravelMode, driving: RoadCosting = .car) -> RoadCosting {
        switch mode {
        case .automatic, .driving: driving
        case .riding: .bicycle
        case .walking: .pedestrian
        }
    }
}
