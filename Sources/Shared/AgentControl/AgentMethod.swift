/// The methods of `io.saker.Agent`; the raw values are their names on the socket.
package enum AgentMethod: String, Hashable, Sendable, CaseIterable {
    case getStatus = "GetStatus"
    case monitor = "Monitor"
    case startService = "StartService"
    case stopService = "StopService"
    case startGather = "StartGather"
    case stopGather = "StopGather"
    case getSettings = "GetSettings"
    case setIntervals = "SetIntervals"
    case setCacheLimit = "SetCacheLimit"
    case setLocationOptions = "SetLocationOptions"
    case resetSettings = "ResetSettings"
    case setAttributes = "SetAttributes"
    case clearAttributes = "ClearAttributes"
    case getAttributes = "GetAttributes"
    case provideAttributes = "ProvideAttributes"
    case getCacheInfo = "GetCacheInfo"
    case clearCache = "ClearCache"
    case reconnect = "Reconnect"
    case addPoints = "AddPoints"
    case call = "Call"
    case listAlarms = "ListAlarms"
    case createFence = "CreateFence"
    case updateFence = "UpdateFence"
    case deleteFences = "DeleteFences"
    case listFences = "ListFences"
    case exportFences = "ExportFences"
    case getFenceStatus = "GetFenceStatus"
    case importFences = "ImportFences"

    /// Whether the method only reads. Everybody who can open the socket may call such a method.
    package var onlyReads: Bool {
        switch self {
        case .getStatus, .monitor, .getSettings, .getAttributes, .getCacheInfo, .listAlarms, .listFences, .exportFences,
            .getFenceStatus:
            true
        case .startService, .stopService, .startGather, .stopGather, .setIntervals, .setCacheLimit,
            .setLocationOptions, .resetSettings, .setAttributes, .clearAttributes, .provideAttributes, .clearCache,
            .reconnect, .addPoints, .call, .createFence, .updateFence, .deleteFences, .importFences:
            false
        }
    }
}

extension AgentMethod {
    /// The mobile SDK has these calls, and answers them with a status of the Web API.
    var isAboutFences: Bool {
        switch self {
        case .createFence, .updateFence, .deleteFences, .listFences, .exportFences, .getFenceStatus, .importFences: true
        default: false
        }
    }
}

// The text of each method in the interface's description: its comment, its parameters and its reply.
extension AgentMethod {
    var text: String {
        switch self {
        case .getStatus:
            """
            # Everything the agent knows of itself.
            method GetStatus() -> (status: Status)
            """
        case .monitor:
            """
            # Streams what changes; the first event is the status. Call it with `more`.
            method Monitor() -> (event: Event)
            """
        case .startService:
            """
            # Starts the service as an entity: the one given, or that of the configuration, or the last one. gathering: whether
            # the agent has been told to gather.
            method StartService(entity: ?string) -> (
              outcome: StartOutcome,
              code: int,
              reason: ?string,
              gathering: ?bool,
              durable: ?bool
            )
            """
        case .stopService:
            """
            # Stops gathering and the service. Online it uploads what is cached, for at most timeout seconds (default 10).
            # `by`: person (default) or hook, for the gap of the track.
            method StopService(timeout: ?float, by: ?string) -> (code: int, uploaded: int, remaining: int, durable: ?bool)
            """
        case .startGather:
            """
            # Without a receiver gathering does not start, and the agent does not try again. With keep_trying it starts, and makes
            # points as soon as there is a receiver; reason then says what is missing.
            method StartGather(keep_trying: ?bool) -> (code: int, reason: ?string, durable: ?bool)
            """
        case .stopGather:
            """
            # Stops gathering; the service runs on. `by`: person (default) or hook, for the gap of the track.
            method StopGather(by: ?string) -> (code: int, durable: ?bool)
            """
        case .getSettings:
            """
            method GetSettings() -> (settings: Settings)
            """
        case .setIntervals:
            """
            # Seconds, 2 to 300, pack a whole multiple of gather.
            method SetIntervals(gather: int, pack: int) -> (settings: Settings, durable: ?bool)
            """
        case .setCacheLimit:
            """
            # Either bytes or unlimited: true.
            method SetCacheLimit(bytes: ?int, unlimited: ?bool) -> (settings: Settings, durable: ?bool)
            """
        case .setLocationOptions: AgentSetting.methodText
        case .resetSettings:
            """
            # Back to the defaults.
            method ResetSettings() -> (settings: Settings, durable: ?bool)
            """
        case .setAttributes:
            """
            # Sets attributes that all points to come carry, for ttl seconds or until they are set again or cleared. What is no
            # column of the service, or of another type, is ignored. judged: false while no login has told the columns.
            method SetAttributes(
              attributes: object,
              ttl: ?float
            ) -> (taken: []string, ignored: []IgnoredAttribute, judged: bool)
            """
        case .clearAttributes:
            """
            # Forgets the values that are set of these keys, or all.
            method ClearAttributes(keys: ?[]string) -> (cleared: []string)
            """
        case .getAttributes:
            """
            # The values, the service's track columns (absent until a login told them) and the providers.
            method GetAttributes() -> (attributes: []Attribute, columns: ?[]Column, providers: []Provider)
            """
        case .provideAttributes:
            """
            # Gives attributes for each point as it is gathered. Call it without parameters to begin: the reply comes when a point
            # is gathered. Call it again on the same connection within 200 ms with the reply's request and the attributes: they
            # are that point's, and the reply comes with the next point. late, ignored: of the attributes that came with the call.
            method ProvideAttributes(
              request: ?int,
              attributes: ?object
            ) -> (request: int, time: int, late: bool, ignored: []IgnoredAttribute)
            """
        case .getCacheInfo:
            """
            # For the entities given, or all that have points.
            method GetCacheInfo(entities: ?[]string) -> (cache: Cache, entities: []EntityCache)
            """
        case .clearCache:
            """
            # Forgets points that were not uploaded, for good: those of the entities given (or all), from and through the times
            # given (or all). durable: false while the disk refuses; a power cut before it takes the clear brings points back.
            method ClearCache(entities: ?[]string, from: ?int, through: ?int) -> (removed: int, durable: ?bool)
            """
        case .reconnect:
            """
            # Tries to reach the server now instead of at the next try; a connection that stands is made anew.
            method Reconnect() -> ()
            """
        case .addPoints:
            """
            # Sends points that no receiver made, 1 to 1000 of one entity (the one the service runs as when none is given), at once
            # over the connection; answers when the server has stored them. They are not cached and not seen by local fences. ignored:
            # attributes that no point shows, because the service has no such track column or the column has another type.
            method AddPoints(
              entity: ?string,
              points: []Point
            ) -> (stored: int, refused: []RefusedPoint, ignored: ?[]IgnoredAttribute)
            """
        case .call:
            """
            # A request of the Web API v3, such as track/gettrack, with the identity of the agent instead of a key. status is the
            # API's, response the whole answer. How much an agent may ask for is the server's to say.
            method Call(path: string, parameters: ?[string]string) -> (status: int, response: object)
            """
        case .listAlarms:
            """
            # Alarms and messages of the last days, in the order of their numbers. Without after the newest that match, with it the
            # oldest of those with a greater number: ask again with the last number until more is false. from, through: bounds of
            # their time, both included. fences, actions: alarms of local fences alone. limit: 1 to 1000, 100 when absent.
            method ListAlarms(
              after: ?int,
              from: ?int,
              through: ?int,
              type: ?int,
              entity: ?string,
              fences: ?[]int,
              actions: ?[]FenceAction,
              limit: ?int
            ) -> (alarms: []Alarm, more: bool)
            """
        case .createFence, .updateFence, .deleteFences, .listFences, .exportFences, .getFenceStatus, .importFences:
            fenceText
        }
    }
}

// The text of the fences' methods in the interface's description.
extension AgentMethod {
    /// Empty for a method of another subject.
    private var fenceText: String {
        switch self {
        case .createFence:
            """
            # Makes a fence that the agent judges on the vehicle. What a fence is: the documentation of the control interface.
            method CreateFence(fence: object) -> (fence_id: int, revision: int, code: int, durable: ?bool)
            """
        case .updateFence:
            """
            # Puts another definition in the place of a fence's. Without a shape in it the shape stays.
            method UpdateFence(
              fence_id: int,
              fence: object
            ) -> (fence_id: int, revision: int, code: int, durable: ?bool)
            """
        case .deleteFences:
            """
            # Deletes the fences that match, all or none, without an exit. entity: fences that watch it and nobody else. Give all
            # instead of conditions to delete every fence.
            method DeleteFences(
              fences: ?[]int,
              name: ?string,
              group: ?string,
              entity: ?string,
              file: ?string,
              layer: ?string,
              all: ?bool
            ) -> (deleted: []int, code: int, durable: ?bool)
            """
        case .listFences:
            """
            # The fences that match, in the order of their numbers: those with a number greater than after. limit: 1 to 1000, 100
            # when absent. source: local (when absent) for the vehicle's own fences, server for those that the server has sent.
            method ListFences(
              source: ?string,
              fences: ?[]int,
              name: ?string,
              group: ?string,
              entity: ?string,
              file: ?string,
              layer: ?string,
              after: ?int,
              limit: ?int
            ) -> (fences: []LocalFence, more: bool)
            """
        case .exportFences:
            """
            # The fences that match, with shapes of any size, as JSON lines: a piece of the text, and where the next piece begins.
            # Each line has id, revision, created, modified and fence.
            method ExportFences(
              fences: ?[]int,
              name: ?string,
              group: ?string,
              entity: ?string,
              file: ?string,
              layer: ?string,
              position: ?string
            ) -> (text: string, position: ?string)
            """
        case .getFenceStatus:
            """
            # Where an entity (the one of the service when absent) is with regard to the fences that match and watch it. With place
            # the same of an assumed place; that changes nothing. source: as in ListFences.
            method GetFenceStatus(
              source: ?string,
              entity: ?string,
              place: ?Place,
              fences: ?[]int,
              name: ?string,
              group: ?string,
              file: ?string,
              layer: ?string,
              after: ?int,
              limit: ?int
            ) -> (entity: string, statuses: []FenceStatus, more: bool)
            """
        case .importFences:
            """
            # Makes the fences of one file and layer what the text says: JSON lines, each a fence with its origin, or
            # {"keep": feature}. Fences of the file and layer that no line names are deleted. All or nothing, with the last part.
            # A long text comes in parts, counted from 0, that have the same import_id.
            method ImportFences(
              file: string,
              layer: ?string,
              text: string,
              import_id: ?string,
              part: ?int,
              last: ?bool
            ) -> (
              received: int,
              done: bool,
              created: int,
              updated: int,
              unchanged: int,
              deleted: int,
              code: int,
              durable: ?bool
            )
            """
        default: ""
        }
    }
}
