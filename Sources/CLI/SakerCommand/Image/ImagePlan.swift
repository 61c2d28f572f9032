import ConfigurationFile
import Terminal

/// What makes one computer this vehicle and no other: everything that two computers with one image must not share.
struct ImagePlan: Hashable {
    enum Step: Hashable {
        /// A file; one that is not there is no error.
        case remove(String)
        /// The same for a file that a configuration names. A link is left and told: the secret is elsewhere.
        case removeSecret(String)
        /// A directory with all that is in it. The directory itself stays.
        case empty(String)
        /// A directory of the agent's. Where a configuration or a link puts it elsewhere, only the agent's own files go,
        /// because others may be there too.
        case emptyOwn(String, OwnFiles)
        /// All files in a directory whose names have this begin and one of these ends; no end: any.
        case removeNamed(directory: String, prefix: String, suffixes: [String])
        /// Stays, with nothing in it: the next boot makes another.
        case truncate(String)
    }

    struct Part: Hashable {
        /// For people.
        let what: String
        let steps: [Step]

        /// What is removed, for people.
        var paths: [String] { steps.map(\.text) }
    }

    let parts: [Part]

    /// `cache`: the directory of the ring. `state`: the directory of the agent's state. `named`: files with keys,
    /// certificates and other secrets that the configurations name.
    init(cache: String, state: String, named: [String] = [], keepingHostKeys: Bool) {
        let directory = VehicleDirectory.system
        let own = [
            DeviceFiles.configuration, "client.toml", DeviceFiles.authority, DeviceFiles.certificate,
            CertificateFiles.next(of: DeviceFiles.certificate),
        ]
        // What a writing that was cut has left; of a key in the TPM also the next one.
        let unfinished = own.map { $0 + ".new-" } + [DeviceKeyChoice.tpmFileName + "."]
        var parts = [
            Part(
                what: "points that wait for the server, settings, local fences, alarms and messages",
                steps: [.emptyOwn(cache, .cache), .emptyOwn(state, .state)]),
            Part(
                what: "this vehicle's configuration, certificate and key, and its secrets",
                steps: [.empty("\(directory)/\(VehicleDirectory.credentials)")]
                    + named.map { .removeSecret($0) }
                    + (own + [DeviceKeyChoice.tpmFileName]).map { .remove("\(directory)/\($0)") }
                    + unfinished.map { .removeNamed(directory: directory, prefix: $0, suffixes: []) }),
            Part(
                what: "the machine id, and the secrets of the system that belong to it",
                steps: [
                    .truncate("/etc/machine-id"), .remove("/var/lib/dbus/machine-id"),
                    .remove("/var/lib/systemd/random-seed"), .remove("/var/lib/systemd/credential.secret"),
                ]),
        ]
        if !keepingHostKeys {
            parts.append(
                Part(
                    what: "the host keys of SSH",
                    steps: [.removeNamed(directory: "/etc/ssh", prefix: "ssh_host_", suffixes: ["_key", "_key.pub"])]))
        }
        self.parts = parts
    }
}

extension ImagePlan.Step {
    /// For people: what goes.
    fileprivate var text: String {
        switch self {
        case .remove(let path), .removeSecret(let path): path.printable
        case .empty(let path): "\(path.printable)/*"
        case .emptyOwn(let path, let files):
            path == files.directory ? "\(path)/*" : "\(path.printable)/ (\(files.text))"
        case .removeNamed(let directory, let prefix, let suffixes):
            suffixes.isEmpty
                ? "\(directory)/\(prefix)*" : suffixes.map { "\(directory)/\(prefix)*\($0)" }.joined(separator: ", ")
        case .truncate(let path): "\(path) (emptied)"
        }
    }
}
