import Ingest
import Testing
import TrackModel
import TrackStore
import TrackWire

@testable import Gateway

/// A machine with its clocks, as tests speak to it.
struct MachineBench {
    typealias Action = SessionMachine.Action

    static let clock = Timestamp(milliseconds: 1_800_000_000_000)
    static let stream = StreamID(high: 7, low: 9)

    var limits = GatewayLimits()
    var deadlines = GatewayDeadlines()
    var machine: SessionMachine
    var now: MonotonicTime = .init(milliseconds: 1000)
    var clock = Self.clock

    init(
        offersCalls: Bool = true, clockProblem: String? = nil,
        _ configure: (inout GatewayLimits, inout GatewayDeadlines) -> Void = { _, _ in }
    ) {
        configure(&limits, &deadlines)
        machine = SessionMachine(
            limits: limits, deadlines: deadlines, offersCalls: offersCalls, clockProblem: clockProblem)
    }

    static func opened(
        offersCalls: Bool = true, _ configure: (inout GatewayLimits, inout GatewayDeadlines) -> Void = { _, _ in }
    ) -> Self {
        var bench = Self(offersCalls: offersCalls, configure)
        bench.logIn()
        return bench
    }

    mutating func connect() {
        _ = machine.opened(isWritable: true, now: now)
        _ = machine.handshakeCompleted(isOurs: true, now: now)
    }

    @discardableResult mutating func logIn(
        storedThrough: UInt64 = 0, _ change: (inout Hello) -> Void = { _ in }
    ) -> [Action] {
        connect()
        _ = receive(.hello(Self.hello(change)))
        return admit(Self.admission(storedThrough: storedThrough))
    }

    mutating func admit(_ admission: AcceptedLogin, barrier: SessionMachine.Barrier? = nil) -> [Action] {
        machine.admitted(.success(admission), session: 12, barrier: barrier, now: now, clock: clock)
    }

    mutating func receive(_ message: ClientFrame.OneOf_Message) -> [Action] {
        machine.received(ClientFrame(message), now: now, clock: clock)
    }

    /// Sends an upload that gets its memory; returns the actions after that.
    mutating func upload(_ sequences: ClosedRange<Int64>, entity: String = "") -> [Action] {
        var upload = streamed(sequences)
        upload.entity = entity
        return grant(receive(.upload(upload)))
    }

    /// Answers a reservation that the actions end with.
    mutating func grant(
        _ actions: [Action], _ answer: SessionMachine.ReservationAnswer = .granted
    ) -> [Action] {
        guard case .reserve(let reservation, let cost)? = actions.last else { return actions }
        return machine.reserved(reservation, cost: cost, answer, now: now, clock: clock)
    }

    mutating func settle(_ ticket: UInt64, _ result: Result<UInt64, IngestFailure>) -> [Action] {
        machine.settled([SettledJob(ticket: ticket, result: result)], now: now, clock: clock)
    }

    mutating func fire(_ timer: SessionTimer = .phase, after milliseconds: Int64 = 0) -> [Action] {
        now += milliseconds
        return machine.timerFired(timer, now: now, clock: clock)
    }

    static func hello(_ change: (inout Hello) -> Void = { _ in }) -> Hello {
        var hello = Hello()
        hello.protocol = 1
        hello.serviceID = 1
        hello.ak = "key"
        hello.entity = "car"
        hello.agentVersion = "test"
        hello.streamID = stream
        hello.firstSequence = 1
        hello.nextSequence = 1
        change(&hello)
        return hello
    }

    static func admission(storedThrough: UInt64 = 0) -> AcceptedLogin {
        AcceptedLogin(claim: StreamClaim(epoch: 5, storedThrough: storedThrough, version: 0), columns: [])
    }
}

/// ``upload(_:)`` of the fixture, under a name that a method does not hide.
func streamed(_ sequences: ClosedRange<Int64>) -> Upload { upload(sequences) }
