import ConfigurationFile
import ServerIdentity
import TrackStore
import WebListener

/// Why the server, or a command about it, did not do what it was asked: a sentence that says what to do.
package struct ServerError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The arguments contradict themselves or the rules.
        case usage
        case configuration
        case store
        case certificate
        /// A port cannot be listened on, or another process serves already.
        case address
        /// Something is there already and is left as it is.
        case exists
        /// What is asked about is not there.
        case notFound
        /// A file that is to be read in is not as it must be.
        case file
        /// It ended before its time.
        case stopped
    }

    package let code: Code
    /// For people; holds no secret.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }
}

extension ServerError {
    init(_ error: ConfigurationError) {
        self.init(error.code == .exists ? .exists : .configuration, error.detail)
    }

    init(_ error: ServerIdentityError) {
        self.init(.certificate, error.detail)
    }

    init(_ error: TrackStoreError) {
        let advice =
            switch error.code {
            case .full: ": make room on the disk"
            case .busy: ": another process holds it; try again"
            case .newerSchema: ": use the newer saker-server that made it"
            case .corrupt: ": restore it from a backup"
            case .unknownService, .serviceExists, .unknownDevice, .deviceExists, .entityTaken, .unknownToken,
                .tokenExists,
                .entityExists, .unknownEntity,
                .columnExists, .unknownColumn, .tooManyColumns, .tooManyPoints, .tooManyNames, .unknownFence,
                .fenceChanged, .refusedFence, .tooManyFences, .unknownExport, .tooManyExports, .tooManyRouteJobs,
                .outOfTurn, .missing, .closed, .failed:
                ""
            }
        let code: Code =
            switch error.code {
            case .missing: .notFound
            case .serviceExists, .entityTaken: .exists
            default: .store
            }
        self.init(code, error.detail + advice)
    }
}
