import TrackStore

/// The module `entity`: what is tracked.
enum EntityEndpoints {
    static let all = [add, update, delete, list] + searches + ColumnEndpoints.all(of: .entity)
}
