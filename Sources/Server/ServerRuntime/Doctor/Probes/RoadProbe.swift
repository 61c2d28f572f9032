import RoadEngine
import RoadMatching
import TrackModel

/// Asks the road engine for its status, and for roads around the latest positions.
enum RoadProbe {
    private static let patience: Int64 = 4000

    static func facts(_ roads: ServerConfiguration.Roads, around places: [Coordinate]) async -> RoadFacts {
        let transport = HTTPRoadTransport(roads.url, connections: 1)
        let facts = await facts(transport, around: places)
        await transport.shutdown()
        return facts
    }

    static func facts(_ transport: some RoadTransport, around places: [Coordinate]) async -> RoadFacts {
        let status: EngineStatus
        do throws(RoadFailure) {
            status = try EngineStatus(try await transport.exchange(.status, within: patience))
        } catch {
            return .silent(sentence(error))
        }
        // An engine that names no actions offers all of them.
        let missing = status.actions.isEmpty ? [] : EngineStatus.neededActions.filter { !status.actions.contains($0) }
        return .answers(
            version: status.version, missing: missing, tilesModified: status.tilesModified,
            tiles: await tiles(transport, places))
    }

    private static func tiles(_ transport: some RoadTransport, _ places: [Coordinate]) async -> RoadFacts.Tiles {
        guard !places.isEmpty else { return .noPositions }
        do throws(RoadFailure) {
            let reply = try await transport.exchange(LocateRequest.request(for: places), within: patience)
            return .known(try LocateRequest.known(reply), of: places.count)
        } catch {
            return .failed(sentence(error))
        }
    }

    private static func sentence(_ failure: RoadFailure) -> String {
        switch failure {
        case .timeout: "does not answer in time"
        case .refused: "cannot be connected to"
        case .busy, .open: "is busy"
        case .invalid, .rejected: "does not answer as Valhalla does"
        case .noMapHere: "has no roads there"
        case .noWay: "knows no way there"
        }
    }
}
