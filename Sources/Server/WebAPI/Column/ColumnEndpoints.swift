import TrackStore

/// The calls that manage a service's custom columns. Each module whose subjects have columns lists these calls among
/// its own.
enum ColumnEndpoints {
    static func all(of kind: ColumnKind) -> [Endpoint] { [add(kind), delete(kind), list(kind)] }
}
