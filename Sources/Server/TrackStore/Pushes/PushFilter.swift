/// Which pushes of a service to list; all conditions must hold.
package struct PushFilter: Hashable, Sendable {
    package var entity: String?
    package var state: PushRecord.State?

    package init(entity: String? = nil, state: PushRecord.State? = nil) {
        self.entity = entity
        self.state = state
    }
}
