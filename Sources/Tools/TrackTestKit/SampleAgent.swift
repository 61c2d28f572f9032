package import AgentControl
package import JSON
package import NIOCore
package import TrackModel
package import Varlink

/// An agent that remembers what it was asked and answers with samples: for tests and fuzzers of the control interface.
package final class SampleAgent: AgentControlHandler {
    package enum Asked: Hashable, Sendable {
        case startService(String?), stopService(TimeAmount?, StopCause), startGather(keepTrying: Bool)
        case stopGather(StopCause)
        case setIntervals(Int64, Int64)
        case setCacheLimit(CacheLimit), setLocationOptions(LocationOptionsChange), resetSettings, cacheInfo([String]?)
        case clearCache(CacheSelection), reconnect
        case alarms(AlarmSelection)
        case createFence(JSONValue), updateFence(Int64, JSONValue), deleteFences(FenceSelection)
        case fences(FenceSelection), exportFences(FenceSelection, String?), importFences(FenceImportPart)
        case fenceStatus(String?, AssumedPlace?, FenceSelection)
        case addPoints([TrackPoint], String?), call(String, [String: String])
        case setAttributes([String: JSONValue], TimeAmount?), clearAttributes([String]?)
        case provideAttributes(ProvidedAttributes?, connection: UInt64)
    }

    package let loop: any EventLoop
    package private(set) var asked: [Asked] = []
    /// What the next call fails with.
    package var failure: (any Error)?

    package init(loop: any EventLoop) {
        self.loop = loop
    }

    package static let sampleSettings = AgentSettings([
        "gather_interval": 5, "pack_interval": 30, "cache_limit": 268_435_456, "distance_filter": 2.5,
        "activity": "automotive",
    ])

    package static let sampleStatus = AgentStatus(
        version: "1.2.3", time: 1_772_670_030_000, startedTime: 1_772_660_000_000, entity: "van 07", tracked: true,
        reason: "gathering every 5 s and connected",
        service: ServiceStatus(state: .running, since: 1_772_660_001_000, entity: "van 07"),
        gather: GatherStatus(state: .gathering, since: 1_772_660_002_000, lastPointTime: 1_772_670_029_000),
        feed: FeedStatus(
            state: .fix, since: 1_772_660_003_000, source: "127.0.0.1:2947", device: "/dev/ttyACM0",
            lastFix: FixReport(
                time: 1_772_670_029_500, age: 500, latitude: 31.2281, longitude: 121.4771, speed: 12.5, course: 220.5,
                accuracy: 3.5, mode: 3, satellites: 11)),
        link: LinkStatus(
            state: .online, since: 1_772_660_004_000, server: "track.example.org:7443", session: "s-1", attempts: 0),
        cache: CacheStatus(
            state: .disk, points: 6, bytes: 1_048_576, limit: 268_435_456, firstTime: 1_772_670_000_000,
            lastTime: 1_772_670_029_000, unacknowledged: 0),
        counters: AgentCounters(
            fixes: 10_000, gathered: 2_000, uploaded: 1_994, acknowledged: 1_994, skipped: ["not_due": 8_000],
            lost: ["cache_full": 0], sessions: 1),
        settings: sampleSettings,
        health: HealthStatus(
            troubles: [HealthStatus.Trouble(kind: "no_fix", text: "no position for 20 minutes")], backlog: 6,
            losses: ["bound": 2], receiver: "no_fix", gathering: true, disk: "ok",
            certificateEndTime: 1_780_000_000_000, toldTime: 1_772_670_010_000))

    package static let sampleAttributes = AttributesReply(
        attributes: [
            AttributeReport(key: "driver", value: "Li Wei", source: .set),
            AttributeReport(key: "fuel", value: 51, source: .set, ttl: 12.5),
            AttributeReport(key: "fuel", value: 51.25, source: .provided, age: 3),
        ], columns: [ColumnReport(key: "fuel", type: "double")],
        providers: [ProviderReport(process: 7, answered: 5, late: 1)])

    private func answer<Reply: Sendable>(_ call: Asked, _ reply: Reply) -> EventLoopFuture<Reply> {
        asked.append(call)
        if let failure { return loop.makeFailedFuture(failure) }
        return loop.makeSucceededFuture(reply)
    }

    package func status() -> AgentStatus { Self.sampleStatus }
    package func settings() -> AgentSettings { Self.sampleSettings }
    package func startService(entity: String?) -> EventLoopFuture<StartServiceReply> {
        answer(.startService(entity), StartServiceReply(.successButOffline, reason: "the server does not answer"))
    }
    package func stopService(timeout: TimeAmount?, by cause: StopCause) -> EventLoopFuture<StopServiceReply> {
        answer(.stopService(timeout, cause), StopServiceReply(uploaded: 4, remaining: 2))
    }
    package func startGather(keepTrying: Bool) -> EventLoopFuture<StartGatherReply> {
        answer(.startGather(keepTrying: keepTrying), StartGatherReply(reason: keepTrying ? "no receiver yet" : nil))
    }
    package func stopGather(by cause: StopCause) -> EventLoopFuture<StopGatherReply> {
        answer(.stopGather(cause), StopGatherReply())
    }
    package func setIntervals(gather: Int64, pack: Int64) -> EventLoopFuture<SettingsReply> {
        answer(.setIntervals(gather, pack), SettingsReply(Self.sampleSettings))
    }
    package func setCacheLimit(_ limit: CacheLimit) -> EventLoopFuture<SettingsReply> {
        answer(.setCacheLimit(limit), SettingsReply(Self.sampleSettings))
    }
    package func setLocationOptions(_ change: LocationOptionsChange) -> EventLoopFuture<SettingsReply> {
        answer(.setLocationOptions(change), SettingsReply(Self.sampleSettings))
    }
    package func resetSettings() -> EventLoopFuture<SettingsReply> {
        answer(.resetSettings, SettingsReply(Self.sampleSettings))
    }
    package func setAttributes(_ values: [String: JSONValue], ttl: TimeAmount?) -> EventLoopFuture<SetAttributesReply> {
        answer(
            .setAttributes(values, ttl),
            SetAttributesReply(
                taken: values.keys.sorted(), ignored: [IgnoredValue(key: "x", reason: "unknown_key", detail: "d")],
                judged: true))
    }
    package func clearAttributes(keys: [String]?) -> EventLoopFuture<ClearAttributesReply> {
        answer(.clearAttributes(keys), ClearAttributesReply(cleared: keys ?? []))
    }
    package func attributes() -> AttributesReply { Self.sampleAttributes }
    package func provideAttributes(
        _ answer: ProvidedAttributes?, from provider: VarlinkClientConnection, process: Int32
    ) -> EventLoopFuture<ProvideAttributesReply> {
        self.answer(
            .provideAttributes(answer, connection: provider.number),
            ProvideAttributesReply(request: (answer?.request ?? 0) + 1, time: 5, late: answer != nil, ignored: []))
    }
    package func cacheInfo(entities: [String]?) -> EventLoopFuture<CacheInfoReply> {
        answer(
            .cacheInfo(entities),
            CacheInfoReply(
                cache: Self.sampleStatus.cache,
                entities: [EntityCache(entity: "van 07", points: 6, firstTime: 1, lastTime: 2)]))
    }
    package func clearCache(_ selection: CacheSelection) -> EventLoopFuture<ClearCacheReply> {
        answer(.clearCache(selection), ClearCacheReply(removed: 6, durable: true))
    }
    package func addPoints(_ points: [TrackPoint], entity: String?) -> EventLoopFuture<AddPointsReply> {
        answer(
            .addPoints(points, entity), AddPointsReply(stored: 1, refused: [RefusedPointReply(index: 1, reason: "x")]))
    }
    package func call(path: String, parameters: [String: String]) -> EventLoopFuture<WebAPIReply> {
        answer(.call(path, parameters), WebAPIReply(status: 3003, response: ["status": 3003]))
    }
    package static let sampleAlarms = AlarmsReply(
        alarms: [
            AlarmReport(
                number: 7, id: 12, type: 65, entity: "van 07", time: 1000, received: 1500, body: ["text": "hello"]),
            AlarmReport(number: 8, id: nil, type: 4, entity: "van 07", time: nil, received: 2500, body: "x"),
        ], more: true)
    package func alarms(_ selection: AlarmSelection) -> EventLoopFuture<AlarmsReply> {
        answer(.alarms(selection), Self.sampleAlarms)
    }
    package func createFence(_ definition: JSONValue) -> EventLoopFuture<FenceReply> {
        answer(.createFence(definition), FenceReply(fenceID: 15, revision: 1))
    }
    package func updateFence(_ fence: Int64, _ definition: JSONValue) -> EventLoopFuture<FenceReply> {
        answer(.updateFence(fence, definition), FenceReply(fenceID: fence, revision: 2))
    }
    package func deleteFences(_ selection: FenceSelection) -> EventLoopFuture<DeleteFencesReply> {
        answer(.deleteFences(selection), DeleteFencesReply(deleted: selection.fences ?? [15]))
    }
    package static let sampleFences = FencesReply(
        fences: [
            LocalFenceReport(
                id: 15, revision: 1, created: 1000, modified: 2000, vertices: 1,
                fence: [
                    "name": "depot",
                    "shape": ["kind": "circle", "latitude": 40.25, "longitude": 116.5, "radius": 50.5],
                ])
        ], more: false)
    package func fences(_ selection: FenceSelection) -> EventLoopFuture<FencesReply> {
        answer(.fences(selection), Self.sampleFences)
    }
    package func exportFences(
        _ selection: FenceSelection, position: String?
    ) -> EventLoopFuture<ExportFencesReply> {
        answer(.exportFences(selection, position), ExportFencesReply(text: "{}\n", position: nil))
    }
    package func fenceStatus(
        of entity: String?, at place: AssumedPlace?, _ selection: FenceSelection
    ) -> EventLoopFuture<FenceStatusReply> {
        answer(
            .fenceStatus(entity, place, selection),
            FenceStatusReply(
                entity: entity ?? "van 07",
                statuses: [
                    FenceStatusReport(
                        fenceID: 15, name: "depot", status: .inside, since: 1000, distance: -4.5, time: 2000)
                ], more: false))
    }
    package func importFences(_ part: FenceImportPart) -> EventLoopFuture<ImportFencesReply> {
        answer(.importFences(part), ImportFencesReply(received: 1, done: part.isLast, created: part.isLast ? 1 : 0))
    }
    package func reconnect() -> EventLoopFuture<ReconnectReply> { answer(.reconnect, ReconnectReply()) }
}
