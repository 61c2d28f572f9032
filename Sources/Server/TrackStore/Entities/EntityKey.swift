package import TrackModel

/// A name as its bytes: Swift's `String` takes equivalent spellings for equal, the store and its clients do not.
package struct EntityKey: Hashable, Sendable {
    package let service: ServiceID
    package let name: String

    package init(service: ServiceID, name: String) {
        self.service = service
        self.name = name
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.service == right.service && left.name.utf8.elementsEqual(right.name.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(service)
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
