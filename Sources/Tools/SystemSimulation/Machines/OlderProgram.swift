internal import TrackModel
internal import TrackTestKit
internal import TrackWire

/// One of the two programs is from before there were fences on vehicles and reasons of gaps, for all of a history or a part of it.
///
/// The present program stands for it, on an older one's terms: what an older program does not say is taken out of its hello or
/// its welcome on the way, and an older agent keeps no server fences. So the program under test is the other one.
struct OlderPrograms {
    enum Program: CaseIterable { case agent, server }

    enum Course: CaseIterable {
        /// Older to the end.
        case stays
        /// A newer one goes on with its disk, or its store.
        case upgrade
        /// The newer one was there first.
        case downgrade
    }

    let program: Program
    let course: Course
    /// Milliseconds at which the one replaces the other.
    let changesAt: Int64
    /// The older one is installed now.
    private(set) var isOlder: Bool

    /// Drawn from random numbers of its own. Nil for most seeds: of 100 as many as `share` says have an older program.
    init?(seed: UInt64, share: Int, hours: Double) {
        var dice = DiskDice(seed: seed &* 0x9E6C_63D0_876A_68D5 ^ 0x01DE_5C01_DE5C)
        guard Int.random(in: 0..<100, using: &dice) < share else { return nil }
        program = dice.one(in: 2) ? .agent : .server
        course = [Course.stays, .stays, .upgrade, .upgrade, .upgrade, .downgrade].randomElement(using: &dice) ?? .stays
        changesAt = Int64(hours * 36_000) * Int64.random(in: 15...85, using: &dice)
        isOlder = course != .downgrade
    }

    /// The other version is installed.
    mutating func change() { isOlder.toggle() }

    func isOlder(_ program: Program) -> Bool { isOlder && self.program == program }

    var text: String {
        switch course {
        case .stays: "an older \(program)"
        case .upgrade: "an older \(program), upgraded at \(changesAt / 1000) s"
        case .downgrade: "an older \(program) from \(changesAt / 1000) s on"
        }
    }

    // MARK: What an older program does not say

    /// The highest batch payload that such programs write and read: without the reasons of gaps.
    private static let payloadFormat: UInt32 = 2

    /// A frame of an agent as an older agent writes it, or as an older server reads it.
    static func fromAgent(_ bytes: [UInt8]) -> [UInt8] {
        guard case .hello(var hello)? = try? WireCodec.decodeClient(FrameChecker.body(of: bytes)).message else {
            return bytes
        }
        (hello.fenceFormat, hello.fenceVersion, hello.bootBytes) = (0, 0, [])
        return WireCodec.encode(ClientFrame(.hello(hello)))
    }

    /// A frame of a server as an older server writes it, or as an older agent reads it.
    static func fromServer(_ bytes: [UInt8]) -> [UInt8] {
        guard case .welcome(var welcome)? = try? WireCodec.decodeServer(FrameChecker.body(of: bytes)).message else {
            return bytes
        }
        (welcome.fenceFormat, welcome.healthInterval, welcome.payloadFormat) = (0, 0, payloadFormat)
        return WireCodec.encode(ServerFrame(.welcome(welcome)))
    }

    /// What an older server could not read; nil: it reads this frame.
    static func unreadable(_ message: ClientFrame.OneOf_Message) -> String? {
        switch message {
        case .fenceRequest: "a request for fences"
        case .alarmUpload: "reports of alarms"
        case .heartbeat(let heartbeat) where heartbeat.hasHealth: "the vehicle's health"
        case .upload(let upload) where !upload.fenceUses.isEmpty: "the fences that judged its points"
        case .upload(let upload):
            (try? BatchCodec.decode(upload.payloadBytes, isCompressed: upload.encoding == .zlib))?
                .contains { $0.continuity != nil } ?? true ? "the reasons of gaps" : nil
        default: nil
        }
    }

    /// What an older agent could not read; nil: it reads this frame.
    static func unreadable(_ message: ServerFrame.OneOf_Message) -> String? {
        switch message {
        case .fenceUpdate: "fences"
        case .alarmUploadAck: "an answer to reports that it never made"
        case .welcome(let welcome) where welcome.fenceFormat > 0: "that it may ask for fences"
        default: nil
        }
    }
}

// One of the two programs is an older one: it hears of nothing that it does not know, and what it has lasts when a newer one
// takes its place.
extension History {
    func beginOlderPrograms() {
        guard let older else { return }
        note(older.text)
        summary.olderPrograms = 1
        // Points of an older program say nothing of the time before them.
        gaps.areReasonsTold = false
        guard older.course != .stays else { return }
        after(older.changesAt) { $0.changeProgram() }
    }

    private func changeProgram() {
        guard var older, !isHealed else { return }
        older.change()
        self.older = older
        note("the \(older.program) becomes \(older.isOlder ? "an older" : "a newer") one")
        // The vehicle still has fences, and the two judge by different ones from now on.
        if older.isOlder { fences?.mayDiffer = true }
        switch older.program {
        case .server: stopServerGently { $0.startServer() }
        case .agent:
            guard let box else { return }
            end(box, how: .kill)
            bootAgent()
        }
    }

    /// A connection stands between an agent and a server of which one is older.
    func watchOlder(_ box: AgentBox, _ machine: ServerMachine, _ frames: FrameChecker, _ socket: VirtualSocket) {
        let isAgents = box.isOlder
        guard isAgents || machine.isOlder else {
            box.connector.rewrite = nil
            return
        }
        box.connector.rewrite = OlderPrograms.fromAgent
        socket.rewrite = OlderPrograms.fromServer
        frames.older = isAgents ? .agent : .server
    }

    /// Both programs know reports of alarms, so none may be left.
    var areReportsTaken: Bool { older?.isOlder != true }
}
