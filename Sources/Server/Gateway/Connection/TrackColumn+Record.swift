import TrackModel
import TrackStore
import TrackWire

extension TrackColumn {
    /// A column as the Welcome tells it.
    init(_ column: ColumnRecord) {
        self.init()
        key = column.key
        switch column.type {
        case .integer: type = .integer
        case .double: type = .double
        case .string: type = .string
        }
    }
}
