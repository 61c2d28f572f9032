import Diagnosing

typealias Check = Finding<VehicleCheck>

/// What keeps a vehicle from being tracked.
enum VehicleCheck: String, CheckSubject {
    case agent, configuration, service, gather, settings
    case gpsd, device, fix, clock
    case dns, tcp, tls, certificates, identity, login
    case disk, cache, fences, permissions
}
