package import TrackModel

package struct ServiceRecord: Hashable, Sendable {
    package var id: ServiceID
    package var name: String
    package var created: Timestamp

    package init(id: ServiceID, name: String, created: Timestamp) {
        self.id = id
        self.name = name
        self.created = created
    }
}
