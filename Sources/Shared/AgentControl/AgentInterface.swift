/// The interface as text. `GetInterfaceDescription` sends it to any Varlink client.
package enum AgentInterface {
    package static let name = "io.saker.Agent"

    /// The default path of the agent's socket.
    package static let defaultSocketPath = "/run/saker/agent.varlink"

    package static let description = """
        # The Saker agent: follows the vehicle it is in and gets the track to a server.
        #
        # Times are milliseconds since 1970-01-01T00:00:00Z. Distances are metres, speeds metres per second, courses
        # degrees from true north, coordinates degrees of WGS 84. What is unknown or does not apply is left out.
        # Reading needs no more than opening the socket; what changes the agent needs root or the agent's group.
        # Errors carry a sentence for people in `reason`, and in `code` the mobile SDK's number where it has one.
        interface io.saker.Agent

        type Status (
          version: string,
          time: int,
          started_time: int,
          entity: ?string,
          # Whether a point gathered now would reach the server without anybody's doing, and why or why not. obstacle: why not, as
          # one word.
          tracked: bool,
          reason: string,
          obstacle: ?string,
          service: Service,
          gather: Gather,
          feed: Feed,
          link: Link,
          cache: Cache,
          counters: Counters,
          settings: Settings,
          attributes: ?Attributes,
          clock: ?Clock,
          alarms: ?Alarms,
          hooks: ?Hooks,
          remembered: ?Remembered,
          fences: ?Fences,
          health: ?Health,
          # The disk was in another computer when the agent ran last: it is a copy, or the board was replaced.
          on_another_computer: ?bool
        )

        type ServiceState (stopped, starting, running, stopping)

        type Service (state: ServiceState, since: ?int, entity: ?string)

        # waiting: told to gather, and no fix to gather from.
        type GatherState (stopped, waiting, gathering)

        # parked_since: only while the vehicle is parked and makes few points for that, by GNSS time.
        type Gather (state: GatherState, since: ?int, last_point_time: ?int, parked_since: ?int, dates: ?Dates)

        # receiver_time, clock_time: what both say when they are far apart. clock_used: points have the time of the computer's
        # clock. text, remedy: for people.
        type Dates (
          kind: DatesKind, receiver_time: ?int, clock_time: ?int, clock_used: bool, text: string, remedy: string
        )
        type DatesKind (disagreement, missing, standing, receivers)

        # connecting: gpsd has not answered yet. unreachable: gpsd does not answer. permission_denied: the system forbids the agent
        # the use of gpsd. no_device: gpsd answers and has no receiver, or its receiver sends nothing.
        type FeedState (closed, connecting, unreachable, permission_denied, no_device, no_fix, fix)

        type Feed (
          state: FeedState,
          since: ?int,
          source: ?string,
          device: ?string,
          last_error: ?string,
          last_fix: ?Fix
        )

        # mode: 2 or 3 dimensions. status: gpsd's number, 1 for a plain fix. age: milliseconds since it arrived.
        type Fix (
          time: int,
          age: int,
          latitude: float,
          longitude: float,
          speed: ?float,
          course: ?float,
          altitude: ?float,
          accuracy: ?float,
          mode: ?int,
          status: ?int,
          satellites: ?int
        )

        # waiting: failed, tried again at next_try_time. refused: key, application code or certificate refused, tried slowly.
        type LinkState (closed, connecting, handshaking, logging_in, online, waiting, refused, closing)

        # last_error_cause: what exactly went wrong, a word, when there is one for it; others may come.
        # offline_since: since when there has been no session although one is wanted; since begins anew with each try.
        type Link (
          state: LinkState,
          since: ?int,
          server: ?string,
          session: ?string,
          last_error: ?string,
          last_error_cause: ?string,
          next_try_time: ?int,
          attempts: ?int,
          encryption: ?string,
          offline_since: ?int
        )

        # memory: the disk refuses writes, points are in memory only.
        type CacheState (disk, memory)

        # points: not acknowledged by the server. unacknowledged: those of them that were sent. limit: absent for unlimited.
        # time_to_full: milliseconds until the limit drops the oldest points when the server takes none, at the rate of the
        # last ten minutes; absent while there is no rate.
        type Cache (
          state: CacheState,
          last_error: ?string,
          directory: ?string,
          points: int,
          bytes: int,
          limit: ?int,
          first_time: ?int,
          last_time: ?int,
          unacknowledged: int,
          time_to_full: ?int
        )

        # Since the agent started. skipped: fixes that made no point, by reason. lost: points, by reason, and when the last.
        type Counters (
          fixes: int,
          gathered: int,
          uploaded: int,
          acknowledged: int,
          refused: int,
          skipped: [string]int,
          lost: [string]int,
          sessions: int,
          hints: ?int,
          last_loss_time: ?int
        )

        type Activity (other, automotive, fitness, airborne)

        \(AgentSetting.typeText)

        # synchronised: the kernel's word. server_difference: milliseconds that the server's clock was ahead at the last login.
        type Clock (synchronised: bool, server_difference: ?int)

        # kept: in the journal. last_error: why none can be kept now; the server sends them again. The others count since the
        # agent started.
        type Alarms (
          kept: int,
          last_number: int,
          last_error: ?string,
          received: int,
          refused: int,
          dropped: int,
          damaged: int
        )

        # What the agent was told last and the settings, on the disk. durable: all of it. writing: a write is under way. failing:
        # the last write failed, or takes too long, for the reason in last_error; a restart may forget the last changes.
        type RememberedState (durable, writing, failing)

        type Remembered (state: RememberedState, since: ?int, last_error: ?string)

        # How the vehicle is, in the words in which its operator hears of it; points since the agent started. troubles: what a person
        # should do something about, the worst first. told_time: when the agent told its server last.
        type Health (
          troubles: []Trouble,
          backlog: int,
          losses: [string]int,
          receiver: string,
          gathering: bool,
          disk: string,
          certificate_end_time: ?int,
          told_time: ?int
        )

        # kind: as in the server's list and metrics. text: one clause for people.
        type Trouble (kind: string, text: string)

        # running: hooks. waiting: events whose hooks have not all ended. The others count since the agent started.
        type Hooks (
          directory: string,
          running: int,
          waiting: int,
          started: int,
          failed: int,
          dropped: int,
          last_error: ?string
        )

        # number: the journal's, greater than that of every alarm before. id: the same each time the alarm comes. type: 3 a
        # server fence's alarm, 4 a local fence's, 65 to 255 messages of the fleet's operator. time: of the server's clock; of
        # a local fence's alarm by GNSS. received: of the agent's clock. body: an object, or a text when the server sent no JSON.
        # durable: false for an alarm that is told before the disk has it; its number is 0 then. Otherwise absent.
        # early: true for an alarm of a server fence that the agent has found itself, otherwise absent. confirmed: whether the
        # server has told such an alarm too.
        type Alarm (
          number: int,
          id: ?int,
          type: int,
          entity: string,
          time: ?int,
          received: int,
          body: object,
          durable: ?bool,
          early: ?bool,
          confirmed: ?bool
        )

        # kept: local fences. watching: those that watch the present entity. inside: those that it is in. last_error: why alarms
        # cannot be written to the disk now; waiting: those that wait for it. remembered: of the fences themselves. The others
        # count since the agent started.
        type Fences (
          kept: int,
          watching: int,
          inside: int,
          alarms: int,
          late: int,
          left_out: int,
          dropped: int,
          waiting: int,
          last_alarm_time: ?int,
          last_error: ?string,
          remembered: Remembered,
          server: ?ServerFences
        )

        # The server's fences on the vehicle. version: of the set; 0 without one. changed_time: of the newest change in it, by the
        # server's clock. complete_within: metres, when the set has the nearest fences only. sent: whether the server of the last
        # login sends fences. last_error: why the newest update is not in use. file_error: why the fences could not be read at the
        # start, until the server has sent them again. unconfirmed: early alarms that the server did not confirm within ten
        # minutes after it had the point; confirmations_waiting: those that it may still confirm. reports_waiting: alarms of which
        # the server is still to be told. reports_elsewhere: those of another entity or service. reports_waiting_since: the last answer to a report, while some wait for this entity.
        type ServerFences (
          version: int,
          kept: int,
          inside: int,
          changed_time: ?int,
          complete_within: ?int,
          not_judged: ?int,
          not_judged_reasons: ?[]string,
          sent: ?bool,
          updates_refused: ?int,
          last_error: ?string,
          file_error: ?string,
          alarms: int,
          confirmed: int,
          unconfirmed: int,
          confirmations_waiting: ?int,
          reports_waiting: int,
          reports_elsewhere: ?int,
          reports_waiting_since: ?int,
          remembered: Remembered
        )

        # fence: its definition, without the shape when it has more than 2000 vertices. trouble: why it is not judged.
        type LocalFence (
          id: int,
          revision: int,
          created: int,
          modified: int,
          vertices: int,
          trouble: ?string,
          fence: object
        )

        type FenceAction (enter, exit, stay, overspeed)

        type FencePlace (in, out, unknown)

        # since: of the enter. distance: to the boundary, negative inside. time: of the last point that the fence judged.
        type FenceStatus (
          fence_id: int,
          name: string,
          status: FencePlace,
          since: ?int,
          distance: ?float,
          time: ?int
        )

        type Place (latitude: float, longitude: float, coord_type: ?CoordinateType)

        # Points that are gone without the server having them, since the agent started, by reason.
        type Loss (lost: [string]int)

        # set: values that are set. columns: absent until a login told them.
        type Attributes (set: int, providers: int, columns: ?int)

        # type: int, double or string.
        type Column (key: string, type: string)

        # set: points carry it. provided: a provider gave it last, for that point alone; it wins.
        type AttributeSource (set, provided)

        # value: an integer, a number or a string. ttl: seconds that it still has. age: seconds since it was provided.
        type Attribute (key: string, value: object, source: AttributeSource, ttl: ?float, age: ?float)

        # reason: unknown_key, wrong_type, invalid or too_many; others may come.
        type IgnoredAttribute (key: string, reason: string, detail: string)

        # answered: points that carry what it gave. late: answers that came too late.
        type Provider (process: int, answered: int, late: int)

        type EntityCache (entity: string, points: int, first_time: ?int, last_time: ?int)

        # fields by kind: status a Status, service a Service, gather a Gather, feed a Feed, connection a Link, cache a Cache,
        # alarm an Alarm, loss a Loss.
        # Other kinds may come.
        type Event (time: int, kind: string, fields: object)

        # attributes: whole numbers, numbers or texts by key. coord_type: wgs84 when absent; others are for places from maps.
        type CoordinateType (wgs84, gcj02, bd09ll)

        type Point (
          time: int,
          latitude: float,
          longitude: float,
          speed: ?float,
          course: ?float,
          altitude: ?float,
          accuracy: ?float,
          coord_type: ?CoordinateType,
          object_name: ?string,
          attributes: ?[string]object
        )

        # index: of the point among those given, from 0.
        type RefusedPoint (index: int, reason: string)

        type StartOutcome (success, success_but_offline)

        \(AgentMethod.allCases.map(\.text).joined(separator: "\n\n"))

        # A value breaks a rule.
        error ParameterError (reason: string, code: ?int, parameter: ?string)

        # The agent's own fault; its journal says more.
        error InternalError (reason: string, code: ?int)

        # It needs the server, and the server cannot be reached.
        error NetworkError (reason: string, code: ?int)

        # The server refused the access key, the application code or the certificate.
        error AuthenticationError (reason: string, code: ?int)

        # The same call is still at work.
        error InProgress (reason: string, code: ?int)

        # The service runs already.
        error AlreadyStarted (reason: string, code: ?int)

        # It needs a running service.
        error ServiceNotStarted (reason: string, code: ?int)

        error GatherAlreadyStarted (reason: string, code: ?int)

        error GatherNotStarted (reason: string, code: ?int)

        # gpsd cannot be reached or has no receiver.
        error LocationOff (reason: string, code: ?int)

        # The system forbids the agent the use of gpsd.
        error PermissionDenied (reason: string, code: ?int)

        # The caller may read and not change.
        error NotAuthorized (reason: string, code: ?int)

        # Too many requests wait for the server already; nothing happened, try again.
        error Busy (reason: string, code: ?int)

        # It went to the server and its answer never came: nobody knows what happened. Points may be sent again: of two with
        # the same entity and time the later one counts.
        error OutcomeUnknown (reason: string, code: ?int)

        # A Monitor client took its events too slowly and gets no more.
        error TooSlow (reason: string, code: ?int)

        # No local fence has this number; nothing has changed.
        error FenceNotFound (reason: string, code: ?int)

        # The agent has no room for the fences; nothing has changed.
        error TooManyFences (reason: string, code: ?int)

        # The change is in force, and it could not be written to the disk: a restart forgets it unless a later try succeeds.
        error NotRemembered (reason: string, code: ?int)

        """
}
