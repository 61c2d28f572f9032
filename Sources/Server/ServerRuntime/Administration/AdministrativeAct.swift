import Glibc
import Logging
import Systemd
package import TrackModel

/// Tells the journal who has changed what. Holds no secret.
///
/// Where there is no journald, as in a container, a log gets the same as one line: that of the server when it is process 1, else
/// standard error of the command.
package struct AuditLog: Sendable {
    private let path: String
    private let log: String?

    /// The log of a container: where its process 1 writes.
    static let containerLog = "/proc/1/fd/2"

    package init() {
        self.init(path: Journal.systemPath, log: Self.isServerFirst ? Self.containerLog : nil)
    }

    /// `path`: the socket of journald. `log`: the file of the log, which is there already; nil: standard error.
    init(path: String, log: String?) {
        self.path = path
        self.log = log
    }

    /// `service`: nil for what belongs to no service. `subject`: the number of a key, the name of a column, and the like.
    package func note(_ act: AdministrativeAct, in service: ServiceID?, about subject: String = "") {
        if access(path, F_OK) == 0, let journal = Journal(path: path) {
            let handler = JournalLogHandler(label: "saker-server", identifier: "saker-server", journal: journal)
            return write(act, service, subject, to: handler)
        }
        guard let log else { return write(act, service, subject, to: ReadableLogHandler()) }
        let descriptor = open(log, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return write(act, service, subject, to: ReadableLogHandler()) }
        write(act, service, subject, to: ReadableLogHandler(descriptor: descriptor))
        close(descriptor)
    }

    private func write(
        _ act: AdministrativeAct, _ service: ServiceID?, _ subject: String, to handler: some LogHandler
    ) {
        Logger(label: "saker-server") { _ in handler }.notice(
            "an administrator has changed something",
            metadata: [
                "act": "\(act.rawValue)", "service": "\(service.map { "\($0.rawValue)" } ?? "-")",
                "subject": "\(subject)", "who": "\(Self.who)", "message_id": "\(MessageID.administrativeAct)",
            ])
    }

    /// Process 1 is the server, as in its image.
    private static var isServerFirst: Bool {
        guard getpid() != 1 else { return false }
        var name = [UInt8](repeating: 0, count: 32)
        let descriptor = open("/proc/1/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let count = read(descriptor, &name, name.count)
        return count > 0 && name[..<count].elementsEqual("saker-server\n".utf8)
    }

    /// The user of this process, and the user who called sudo.
    static var who: String {
        let user = WorkingUser.name(WorkingUser.caller)
        guard let caller = getenv("SUDO_USER").map({ String(cString: $0) }), !caller.isEmpty, caller != user else {
            return user
        }
        return "\(caller) as \(user)"
    }
}

/// What an administrator does that changes something, by the command that does it. The journal names it so.
///
/// A command that changes something has an act here, which it notes with ``AuditLog``; a test compares both.
package enum AdministrativeAct: String, CaseIterable, Sendable {
    case serviceCreate = "service create"
    case serviceRename = "service rename"
    case serviceRetention = "service retention"
    case serviceAppCode = "service set-app-code"
    case serviceAnswers = "service answers"
    case serviceImport = "service import"
    case serviceDelete = "service delete"
    case keyCreate = "key create"
    case keyRevoke = "key revoke"
    case keyEnable = "service enable-key"
    case tokenCreate = "token create"
    case tokenRevoke = "token revoke"
    case deviceAdd = "device add"
    case deviceRename = "device rename"
    case deviceMove = "device move"
    case deviceRevoke = "device revoke"
    case deviceApprove = "device approve"
    case deviceForget = "device forget"
    case deviceAuthority = "device authority"
    case columnAdd = "column add"
    case columnDelete = "column delete"
    case certificateRenew = "certificate renew"
    case pushSend = "push send"
    case fenceAdd = "fence add"
    case fenceEdit = "fence edit"
    case fenceDelete = "fence delete"
    case fenceImport = "fence import"
    case districtImport = "district import"
    case districtRemove = "district remove"
    case trackImport = "import"
    case backupRestore = "backup restore"
}
