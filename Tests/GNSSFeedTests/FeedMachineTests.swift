import AgentLogic
import Testing
import TrackModel
import TrackTestKit

@testable import GNSSFeed

struct FeedMachineTests {
    private let path = "/dev/ttyACM0"

    private func machine(device: String? = nil) throws -> FeedMachine {
        FeedMachine(configuration: try FeedConfiguration(device: device))
    }

    /// A machine that watches gpsd since the time 1000, with one open receiver.
    private func watching(device: String? = nil) throws -> FeedMachine {
        var machine = try machine(device: device)
        _ = machine.start()
        _ = machine.connected(at: 1000)
        _ = machine.received(.version(release: "3.22"), roll: 0, at: 1000)
        _ = machine.received(.devices([GPSDDevice(path: path, isActive: true)]), roll: 0, at: 1000)
        return machine
    }

    private func report(_ mode: Int, satellites: Int? = nil) -> GNSSReport {
        GNSSReport(mode: mode, satellitesUsed: satellites, device: path)
    }

    @Test func aConnectionIsGreetedThenWatched() throws {
        var machine = try machine(device: #"/dev/a"b"#)
        #expect(machine.deadline == nil)
        #expect(machine.start() == [.deliver(.state(.connecting)), .connect])
        #expect(machine.connected(at: 5) == [])
        #expect(machine.deadline == 10_005)
        #expect(
            machine.received(.version(release: "3.22"), roll: 0, at: 6) == [
                .send("?WATCH={\"enable\":true,\"json\":true,\"device\":\"/dev/a\\\"b\"};\n")
            ])
        #expect(machine.counters.connections == 1)
        #expect(
            machine.received(.devices([GPSDDevice(path: #"/dev/a"b"#, isActive: true)]), roll: 0, at: 7) == [
                .deliver(.state(.noFix))
            ])
    }

    @Test func aReceiverThatIsSilentAfterGPSDCameBackHasNoFix() throws {
        var machine = try watching()
        _ = machine.failed(.unreachable("gone"), roll: 0, at: 2000)
        _ = machine.woken()
        _ = machine.connected(at: 3000)
        _ = machine.received(.version(release: "3.22"), roll: 0, at: 3000)
        #expect(
            machine.received(.devices([GPSDDevice(path: path, isActive: true)]), roll: 0, at: 3000) == [
                .deliver(.state(.noFix))
            ])
        // The same when the first sign of the receiver is a message that does not say.
        _ = machine.failed(.unreachable("gone"), roll: 0, at: 4000)
        _ = machine.woken()
        _ = machine.connected(at: 5000)
        _ = machine.received(.version(release: "3.22"), roll: 0, at: 5000)
        #expect(
            machine.received(.position(report(0)), roll: 0, at: 5001) == [
                .deliver(.state(.noFix)), .deliver(.report(report(0))),
            ])
    }

    @Test func statesFollowTheReports() throws {
        var machine = try watching()
        #expect(machine.received(.position(report(1)), roll: 0, at: 1001) == [.deliver(.report(report(1)))])
        #expect(
            machine.received(.position(report(3)), roll: 0, at: 1002) == [
                .deliver(.state(.fix)), .deliver(.report(report(3))),
            ])
        // Not said is not lost.
        #expect(machine.received(.position(report(0)), roll: 0, at: 1003) == [.deliver(.report(report(0)))])
        #expect(
            machine.received(.position(report(1)), roll: 0, at: 1004) == [
                .deliver(.state(.noFix)), .deliver(.report(report(1))),
            ])
        #expect(machine.counters.reports == 4)
    }

    @Test func silenceIsToldOnceAfterEachRunOfReports() throws {
        var machine = try watching()
        #expect(machine.deadline == 6000)
        _ = machine.received(.position(report(3)), roll: 0, at: 2000)
        #expect(machine.deadline == 4500)
        #expect(machine.timePassed(roll: 0, at: 4499) == [])
        #expect(machine.timePassed(roll: 0, at: 4500) == [.deliver(.silence)])
        #expect(machine.deadline == 7000)
        #expect(machine.timePassed(roll: 0, at: 7000) == [.send("?DEVICES;\n")])
        #expect(machine.deadline == 12_000)
        #expect(machine.timePassed(roll: 0, at: 12_000) == [.deliver(.state(.noFix))])
        #expect(machine.deadline == 32_000)
        #expect(
            machine.received(.position(report(2)), roll: 0, at: 13_000) == [
                .deliver(.state(.fix)), .deliver(.report(report(2))),
            ])
        #expect(machine.deadline == 15_500)
    }

    @Test func aQuietGPSDIsAskedAndLeftWhenItDoesNotAnswer() throws {
        var machine = try watching()
        #expect(machine.timePassed(roll: 0, at: 6000) == [.send("?DEVICES;\n")])
        let mute = "the receiver has sent nothing for 30 s: unplugged, switched off, or another speed of the port"
        #expect(
            machine.timePassed(roll: 0, at: 31_000) == [
                .send("?VERSION;\n"), .deliver(.state(.noDevice(reason: mute))),
            ])
        #expect(machine.deadline == 41_000)
        #expect(machine.received(.version(release: "3.22"), roll: 0, at: 31_002) == [])
        #expect(machine.deadline == 61_002)
        // Without a receiver gpsd is also to look for it again.
        #expect(
            machine.timePassed(roll: 0, at: 61_002) == [.send("?WATCH={\"enable\":true,\"json\":true};\n")])
        #expect(
            machine.timePassed(roll: 0, at: 71_002) == [
                .close,
                .deliver(.state(.unreachable(reason: "gpsd said nothing for 40 s and does not answer"))),
            ])
    }

    @Test func aGPSDWithoutAReceiverIsAskedForTheStreamAgain() throws {
        var machine = try watching(device: "/dev/other")
        #expect(
            machine.timePassed(roll: 0, at: 31_000).first
                == .send(try FeedConfiguration(device: "/dev/other").watchCommand))
    }

    @Test func anUnansweredConnectionIsGivenUp() throws {
        var machine = try machine()
        _ = machine.start()
        _ = machine.connected(at: 0)
        #expect(
            machine.timePassed(roll: 0, at: 10_000) == [
                .close,
                .deliver(.state(.unreachable(reason: "connected, but gpsd's greeting did not come"))),
            ])
    }

    @Test func waitsDoubleToTheirLimitAndAreCutShortByAWake() throws {
        var machine = try machine()
        _ = machine.start()
        var waits: [MonotonicTime] = []
        for _ in 0..<8 {
            _ = machine.failed(.unreachable("x"), roll: 0.999_999, at: 0)
            let deadline = try #require(machine.deadline)
            waits.append(deadline)
            #expect(machine.timePassed(roll: 0, at: deadline) == [.connect])
        }
        #expect(waits == [999, 1999, 3999, 7999, 15_999, 29_999, 29_999, 29_999])
        _ = machine.failed(.unreachable("x"), roll: 0, at: 0)
        #expect(machine.deadline == 15_000)
        #expect(machine.woken() == [.connect])
        #expect(machine.woken() == [])
        _ = machine.failed(.unreachable("x"), roll: 0, at: 0)
        #expect(machine.deadline == 500)
    }

    @Test func aWatchThatWorkedStartsTheWaitsAnew() throws {
        var machine = try machine()
        _ = machine.start()
        for _ in 0..<5 {
            _ = machine.failed(.unreachable("x"), roll: 0, at: 0)
            _ = machine.woken()
        }
        _ = machine.connected(at: 0)
        _ = machine.received(.version(release: "3.22"), roll: 0, at: 0)
        _ = machine.received(.devices([]), roll: 0, at: 0)
        _ = machine.failed(.unreachable("x"), roll: 0, at: 0)
        #expect(machine.deadline == 500)
    }

    @Test func receiversComeAndGo() throws {
        var machine = try watching()
        _ = machine.received(.position(report(3)), roll: 0, at: 1001)
        let gone = GPSDDevice(path: path, isActive: false)
        let reason = "gpsd does not have /dev/ttyACM0 open: unplugged, or gpsd may not open it"
        #expect(
            machine.received(.device(gone), roll: 0, at: 1002) == [
                .deliver(.silence), .deliver(.state(.noDevice(reason: reason))),
            ])
        #expect(machine.received(.device(gone), roll: 0, at: 1003) == [])
        #expect(
            machine.received(.device(GPSDDevice(path: path, isActive: true)), roll: 0, at: 1004) == [
                .deliver(.state(.noFix))
            ])
        #expect(
            machine.received(.devices([]), roll: 0, at: 1005) == [
                .deliver(.state(.noDevice(reason: "gpsd has no receiver")))
            ])
    }

    /// gpsd has lost the receiver and says nothing of it until it is asked.
    @Test func aReceiverThatIsUnpluggedWithoutAWordIsMissed() throws {
        var machine = try watching()
        _ = machine.received(.position(report(3)), roll: 0, at: 2000)
        _ = machine.timePassed(roll: 0, at: 4500)
        #expect(machine.timePassed(roll: 0, at: 7000) == [.send("?DEVICES;\n")])
        #expect(
            machine.received(.devices([]), roll: 0, at: 7001) == [
                .deliver(.state(.noDevice(reason: "gpsd has no receiver")))
            ])
        // Nothing more is asked than before, and it is found again.
        #expect(machine.deadline == 37_001)
        _ = machine.received(.devices([GPSDDevice(path: path, isActive: true)]), roll: 0, at: 20_000)
        #expect(
            machine.received(.position(report(3)), roll: 0, at: 20_001).contains(.deliver(.state(.fix))))
    }

    /// gpsd has the receiver open, as it has a TCP receiver whose other end is stuck.
    @Test func aReceiverThatSaysNothingIsAway() throws {
        var machine = try watching()
        let open = GPSDMessage.devices([GPSDDevice(path: path, isActive: true)])
        let away = FeedMachine.Action.deliver(
            .state(
                .noDevice(
                    reason:
                        "the receiver has sent nothing for 30 s: unplugged, switched off, or another speed of the port")
            ))
        #expect(machine.timePassed(roll: 0, at: 6000) == [.send("?DEVICES;\n")])
        #expect(machine.received(open, roll: 0, at: 6001) == [])
        #expect(machine.timePassed(roll: 0, at: 31_000) == [away])
        // That gpsd still has it open does not make it talk.
        #expect(machine.received(open, roll: 0, at: 31_001) == [])
        #expect(machine.received(.device(GPSDDevice(path: path, isActive: true)), roll: 0, at: 31_002) == [])
        // Satellites are a word of it, and so is a report that says nothing.
        #expect(
            machine.received(.sky(device: path, satellitesUsed: 0), roll: 0, at: 40_000) == [.deliver(.state(.noFix))])
        #expect(machine.timePassed(roll: 0, at: 70_000).contains(away))
        #expect(machine.received(.position(report(0)), roll: 0, at: 70_001).first == .deliver(.state(.noFix)))
    }

    /// Another program's data on the same gpsd is no word of a receiver of positions.
    @Test func otherMessagesAreNoWordOfTheReceiver() throws {
        var machine = try watching()
        for second in 1...30 as ClosedRange<Int64> {
            _ = machine.received(.other, roll: 0, at: MonotonicTime(milliseconds: 1000 + second * 990))
        }
        #expect(
            machine.timePassed(roll: 0, at: 31_000).contains {
                if case .deliver(.state(.noDevice)) = $0 { true } else { false }
            })
    }

    /// A gpsd that gives its receiver a new name with each plug, and forgets none.
    @Test(arguments: [nil, "/dev/ttyACM40"])
    func aReceiverThatIsRenamedAgainAndAgainIsThere(_ wanted: String?) throws {
        var machine = try watching(device: wanted)
        var now = MonotonicTime(milliseconds: 2000)
        var states: [FeedState] = []
        for number in 1...40 {
            let name = "/dev/ttyACM\(number)"
            for message: GPSDMessage in [
                .device(GPSDDevice(path: "/dev/ttyACM\(number - 1)", isActive: false)),
                .device(GPSDDevice(path: name, isActive: true)), .sky(device: name, satellitesUsed: 9),
                .position(GNSSReport(mode: 3, device: name)), .position(GNSSReport(mode: 3, device: name)),
            ] {
                now += 500
                for case .deliver(.state(let state)) in machine.received(message, roll: 0, at: now) {
                    states.append(state)
                }
            }
            if wanted == nil {
                #expect(states.last == .fix, "\(name)")
                // A list that has no room for all is no reason to say that there is none.
                let names = (0..<16).map { GPSDDevice(path: "/dev/old\($0)", isActive: false) }
                let actions = machine.received(.devices(names, isWhole: false), roll: 0, at: now)
                #expect(actions == [], "\(actions)")
            }
        }
        #expect(states.last == .fix)
        guard
            case .deliver(.report(let last))? = machine.received(
                .position(GNSSReport(mode: 3, device: "/dev/ttyACM40")), roll: 0, at: now
            ).last
        else {
            Issue.record("no report")
            return
        }
        #expect(last.satellitesUsed == 9)
    }

    @Test func onlyTheWantedReceiverCounts() throws {
        var machine = try watching(device: "/dev/other")
        #expect(machine.received(.position(report(3)), roll: 0, at: 1001) == [])
        #expect(
            machine.received(.device(GPSDDevice(path: "/dev/other", isActive: true)), roll: 0, at: 1002) == [
                .deliver(.state(.noFix))
            ])
    }

    @Test func gpsdsErrorsAreToldApart() throws {
        var machine = try watching(device: path)
        #expect(machine.received(.error("Unrecognized request"), roll: 0, at: 1001) == [])
        #expect(
            machine.received(.error("No such device as /dev/ttyACM0"), roll: 0, at: 1001) == [
                .deliver(.state(.noDevice(reason: "gpsd: No such device as /dev/ttyACM0")))
            ])
        #expect(
            machine.received(.error("open: Permission denied"), roll: 0, at: 1001) == [
                .deliver(.state(.permissionDenied(reason: "gpsd: open: Permission denied")))
            ])
    }

    @Test func satellitesUsedAreTakenFromTheLastSKYOfTheReceiver() throws {
        var machine = try watching()
        _ = machine.received(.sky(device: path, satellitesUsed: 7), roll: 0, at: 2000)
        _ = machine.received(.sky(device: path, satellitesUsed: nil), roll: 0, at: 2001)
        _ = machine.received(.sky(device: "/dev/b", satellitesUsed: 3), roll: 0, at: 2002)
        #expect(
            machine.received(.position(report(1)), roll: 0, at: 7000).last
                == .deliver(.report(report(1, satellites: 7))))
        #expect(machine.received(.position(report(1)), roll: 0, at: 7001).last == .deliver(.report(report(1))))
    }

    @Test func whatDoesNotSpeakAsGPSDDoesIsLeft() throws {
        var machine = try machine()
        _ = machine.start()
        _ = machine.connected(at: 0)
        #expect(machine.received(.other, roll: 0, at: 1).first == .close)
        machine = try watching()
        for _ in 1..<FeedMachine.mostRejected { #expect(machine.rejected(roll: 0, at: 1) == []) }
        _ = machine.received(.other, roll: 0, at: 1)
        for _ in 1..<FeedMachine.mostRejected { #expect(machine.rejected(roll: 0, at: 1) == []) }
        #expect(machine.rejected(roll: 0, at: 1).first == .close)
        #expect(machine.counters.rejectedLines == UInt64(2 * FeedMachine.mostRejected - 1))
    }

    @Test func afterStopNothingHappens() throws {
        var machine = try watching()
        _ = machine.received(.position(report(3)), roll: 0, at: 1001)
        #expect(machine.stop() == [.close, .deliver(.silence), .deliver(.state(.stopped))])
        #expect(machine.stop() == [])
        #expect(machine.deadline == nil)
        #expect(machine.failed(.unreachable("x"), roll: 0, at: 1002) == [])
        #expect(machine.woken() == [])
        #expect(machine.received(.position(report(3)), roll: 0, at: 1003) == [])
        #expect(machine.connected(at: 1004) == [.close])
    }

    @Test func theReadingBudgetRunsOutAndFillsAgain() {
        var budget = ReadBudget()
        #expect(budget.wait(at: 1000) == 0)
        budget.spend(lines: 999, bytes: 0)
        #expect(budget.wait(at: 1000) == 0)
        budget.spend(lines: 0, bytes: 65_536)
        #expect(budget.wait(at: 1000) == 64)
        #expect(budget.wait(at: 1063) == 2)
        #expect(budget.wait(at: 1065) == 0)
        budget.spend(lines: 65_536, bytes: 65_536)
        #expect(budget.wait(at: 1_000_000) == 71_136)
        #expect(budget.wait(at: 2_000_000) == 11_136)
        #expect(budget.wait(at: 3_000_000) == 0)
    }

    @Test func configurationsThatCannotWorkAreRefused() {
        #expect(throws: GNSSFeedError.self) { try FeedConfiguration(host: "") }
        #expect(throws: GNSSFeedError.self) { try FeedConfiguration(host: "a b") }
        #expect(throws: GNSSFeedError.self) { try FeedConfiguration(port: 0) }
        #expect(throws: GNSSFeedError.self) { try FeedConfiguration(device: "") }
        #expect(throws: GNSSFeedError.self) { try FeedConfiguration(device: "/dev/\n") }
        #expect(throws: GNSSFeedError.self) { try FeedConfiguration(device: String(repeating: "x", count: 128)) }
    }
}
