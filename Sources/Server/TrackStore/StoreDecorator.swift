/// A store that adds something to the calls of another store: a delay, a fault, a count.
///
/// A decorator implements ``passing(_:)``, which every call goes through, or a method that it treats in its own way, or
/// both. The forwarders stand beside each protocol's methods: a new method of the contract changes no decorator.
package protocol StoreDecorator: TrackStore {
    var inner: any TrackStore { get }

    /// Makes a call of the inner store.
    func passing<Value: Sendable>(
        _ call: (any TrackStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value
}

extension StoreDecorator {
    package func passing<Value: Sendable>(
        _ call: (any TrackStore) async throws(TrackStoreError) -> Value
    ) async throws(TrackStoreError) -> Value {
        try await call(inner)
    }
}
