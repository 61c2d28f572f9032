import Glibc
import Logging
import Systemd
import TrackModel

/// Tells the journal who has changed what about keys, services and devices. Holds no secret.
struct ActJournal: Sendable {
    private let logger: Logger?

    /// Without a journal nothing is told.
    init(path: String = Journal.systemPath) {
        let journal = access(path, F_OK) == 0 ? Journal(path: path) : nil
        logger = journal.map { journal in
            Logger(label: "saker-server") { JournalLogHandler(label: $0, identifier: "saker-server", journal: journal) }
        }
    }

    /// `subject`: the number of a key, or the name of a device.
    func note(_ act: String, in service: ServiceID, about subject: String = "") {
        logger?.notice(
            "an administrator has changed something",
            metadata: [
                "act": "\(act)", "service": "\(service.rawValue)", "subject": "\(subject)", "who": "\(Self.who)",
                "message_id": "\(MessageID.administrativeAct)",
            ])
    }

    /// The user of this process, and the user who called sudo.
    static var who: String {
        let user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "#\(geteuid())"
        guard let caller = getenv("SUDO_USER").map({ String(cString: $0) }), !caller.isEmpty, caller != user else {
            return user
        }
        return "\(caller) as \(user)"
    }
}
