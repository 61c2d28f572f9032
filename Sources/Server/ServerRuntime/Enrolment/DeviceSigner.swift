import ConfigurationFile
import FoundationEssentials
import Synchronization
import TrackModel
import TrackStore
import X509

/// Reads requests for certificates and signs certificates of devices, on no event loop and one at a time: whatever comes in
/// takes at most one core.
actor DeviceSigner {
    /// Requests that wait for their turn; more are told to come again.
    nonisolated let mostWaiting: Atomic<Int>

    private let waiting = Atomic<Int>(0)

    init(mostWaiting: Int = 64) { self.mostWaiting = Atomic(mostWaiting) }

    /// Checks the signature of a request. Nil: too many wait.
    nonisolated func read(_ pem: String) async -> Result<DeviceCertificate.Request, EnrolmentRefusal>? {
        await turn { await self.checked(pem) }
    }

    /// Signs. Nil: too many wait.
    nonisolated func issue(
        _ request: DeviceCertificate.Request, to device: DeviceID, until end: Timestamp,
        signedBy authority: DeviceCertificate.Authority, at now: Timestamp
    ) async -> Result<String, ServerError>? {
        await turn { await self.signed(request, device, end, authority, now) }
    }

    private nonisolated func turn<Value: Sendable>(_ work: @Sendable () async -> Value) async -> Value? {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= mostWaiting.load(ordering: .relaxed) else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        defer { waiting.wrappingSubtract(1, ordering: .relaxed) }
        return await work()
    }

    private func checked(_ pem: String) -> Result<DeviceCertificate.Request, EnrolmentRefusal> {
        do throws(EnrolmentRefusal) {
            return .success(try DeviceCertificate.check(pem))
        } catch {
            return .failure(error)
        }
    }

    private func signed(
        _ request: DeviceCertificate.Request, _ device: DeviceID, _ end: Timestamp,
        _ authority: DeviceCertificate.Authority, _ now: Timestamp
    ) -> Result<String, ServerError> {
        do throws(ServerError) {
            return .success(try DeviceCertificate.issue(request, to: device, until: end, signedBy: authority, at: now))
        } catch {
            return .failure(error)
        }
    }
}
