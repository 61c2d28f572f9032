/// What every store of the fleet's tracks must do: one small protocol for each subject.
///
/// All methods may be called from any task at any time. Reads see every commit that finished before they began. The
/// suite of each protocol is in TrackTestKit and runs against every implementation.
///
/// A room that needs one subject asks for the protocol of this subject alone.
package protocol TrackStore:
    ServiceStore, ServiceDeletionStore, DeviceStore, EnrolmentStore, HealthStore, ColumnStore, EntityStore,
    EntitySearchStore, PointStore,
    PushStore,
    FenceStore,
    AlarmStore, ChangeStore,
    CallbackStore, DistrictStore, ExportStore, RouteJobStore, StoreMaintenance
{}

/// Why a store did not do what it was asked.
package struct TrackStoreError: Error, Equatable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        case unknownService
        case serviceExists
        case unknownDevice
        /// There is one with this number or this key.
        case deviceExists
        /// Another device is this entity.
        case entityTaken
        case unknownToken
        case tokenExists
        case entityExists
        case unknownEntity
        case columnExists
        case unknownColumn
        case tooManyColumns
        case tooManyPoints
        /// A filter names more entities than ``EntityFilter/maximumNames``, or more fences than ``FenceRules/mostNumbers``.
        case tooManyNames
        case unknownFence
        /// Somebody else has changed the fence meanwhile: read it again.
        case fenceChanged
        /// The definition of a fence breaks a rule, which the detail names.
        case refusedFence
        case tooManyFences
        case unknownExport
        /// Too many jobs of the service are not done.
        case tooManyExports
        /// The same of jobs for frequent routes.
        case tooManyRouteJobs
        /// The store was made by a newer program: it is left untouched.
        case newerSchema
        /// The medium has no space left. A retry can help once there is some.
        case full
        /// Someone else holds the store. A retry can help.
        case busy
        /// An earlier batch of the same stream in the same call was not stored. A retry can help, after that batch.
        case outOfTurn
        /// The store is not where it must be: it was never made, or it was removed.
        case missing
        /// The stored data contradict themselves.
        case corrupt
        /// The store was closed by its owner.
        case closed
        case failed
    }

    package let code: Code
    /// For people; holds no secret and no position.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    package var description: String { detail }

    package var isRetriable: Bool {
        switch code {
        case .full, .busy, .outOfTurn: true
        case .unknownService, .serviceExists, .unknownDevice, .deviceExists, .entityTaken, .unknownToken, .tokenExists,
            .entityExists,
            .unknownEntity,
            .columnExists, .unknownColumn, .tooManyColumns, .tooManyPoints, .tooManyNames, .unknownFence, .fenceChanged,
            .refusedFence, .tooManyFences, .unknownExport, .tooManyExports, .tooManyRouteJobs, .newerSchema,
            .missing, .corrupt, .closed,
            .failed:
            false
        }
    }
}

package struct Page: Hashable, Sendable {
    /// From 0.
    package var offset: Int
    package var limit: Int

    package init(offset: Int, limit: Int) {
        self.offset = offset
        self.limit = limit
    }
}
