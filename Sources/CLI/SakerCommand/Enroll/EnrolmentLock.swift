import ConfigurationFile
import Glibc

/// Held by whoever enrols this vehicle or renews its certificate, from the first look at its files until they are written:
/// two at once would mix two identities.
///
/// A lock of the kernel on the directory of the secrets, which only root enters. It leaves no file, and ends with the
/// process.
struct EnrolmentLock {
    private let descriptor: Int32

    /// Nil when another process has it. Throws when the directory cannot be opened.
    init?(_ directory: VehicleDirectory) throws(CommandFailure) {
        // A configuration that was written by hand may be elsewhere, without a directory of secrets.
        let secrets = directory.path(VehicleDirectory.credentials)
        let path = FileStatus(of: secrets) == nil ? directory.path : secrets
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.failed, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    /// Takes it for an enrolment. `waiting`: nobody watches, so the end of the other enrolment is waited for.
    static func take(_ directory: VehicleDirectory, waiting: Bool) async throws -> EnrolmentLock {
        while true {
            if let lock = try EnrolmentLock(directory) { return lock }
            guard waiting else {
                throw CommandFailure(
                    .failed,
                    "another enrolment of this vehicle, or a renewal, is under way. Wait for its end, or end it: sudo systemctl "
                        + "stop saker-enroll saker-renew"
                )
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    func release() { close(descriptor) }
}
