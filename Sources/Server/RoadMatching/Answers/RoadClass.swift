/// How important a road is. The raw value is the engine's word.
package enum RoadClass: String, Hashable, Sendable, CaseIterable {
    case motorway
    case trunk
    case primary
    case secondary
    case tertiary
    case unclassified
    case residential
    case serviceOther = "service_other"
}
