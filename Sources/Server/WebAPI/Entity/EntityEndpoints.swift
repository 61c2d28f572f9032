import TrackStore

/// The module `entity`: what is tracked.
enum EntityEndpoints {
    static let all = [add, update, list] + ColumnEndpoints.all(of: .entity)
}
