import Diagnosing

/// What `saker-server doctor` looks at.
package enum ServerSubject: String, CheckSubject {
    case configuration, server, certificates, disk, store, ports, clock, roads, tiles, callbacks, identity, vehicles
}

typealias ServerCheck = Finding<ServerSubject>
