/// One round of crashes as a value. The same seed makes the same plan.
package struct CrashPlan: Hashable, Sendable {
    package enum Victim: String, Hashable, Sendable, CaseIterable {
        case agent, server, gpsd
    }

    package enum Step: Hashable, Sendable {
        /// The drive continues for so many milliseconds.
        case drive(Int)
        /// SIGKILL, then a new start.
        case kill(Victim)
        /// SIGKILL, and another SIGKILL so many milliseconds after the new start has begun.
        case killTwice(Victim, Int)
        case killBoth
        /// SIGTERM, then a new start.
        case restart(Victim)
        /// SIGSTOP for so many milliseconds.
        case freeze(Victim, Int)
        /// The link has this weather for so many milliseconds, then fair weather again.
        case weather(LinkWeather, Int)
        /// The agent's disk is full for so many milliseconds, and then until the agent has noticed.
        case fullDisk(Int)
    }

    package let seed: UInt64
    package let input: Int
    package let gather: Int
    package let pack: Int
    package let steps: [Step]

    /// `inputs`: how many recordings there are. `isShort`: no step that makes the agent wait the 21 s after which it
    /// notices a dead link. `canFill`: the test can fill the disk.
    package init(seed: UInt64, inputs: Int, isShort: Bool, canFill: Bool) {
        var dice = Dice(seed: seed)
        self.seed = seed
        input = Int.random(in: 0..<max(inputs, 1), using: &dice)
        gather = Int.random(in: 2...3, using: &dice)
        pack = gather * Int.random(in: 1...3, using: &dice)
        let count = isShort ? 5 : Int.random(in: 4...9, using: &dice)
        steps =
            (0..<count).flatMap { _ in
                [
                    Step.drive(Int.random(in: 100...1500, using: &dice)),
                    Self.step(isShort: isShort, canFill: canFill, using: &dice),
                ]
            } + [.drive(Int.random(in: 100...1500, using: &dice))]
    }

    private static func step(isShort: Bool, canFill: Bool, using dice: inout Dice) -> Step {
        switch Int.random(in: 0..<22, using: &dice) {
        case 0..<4: return .kill(.agent)
        case 4..<8: return .kill(.server)
        case 8: return .kill(.gpsd)
        case 9: return .killTwice(.agent, Int.random(in: 0...120, using: &dice))
        case 10: return .killTwice(.server, Int.random(in: 0...200, using: &dice))
        case 11: return .killBoth
        case 12: return .restart(dice.one(in: 2) ? .agent : .server)
        case 13: return .freeze(dice.one(in: 2) ? .agent : .server, Int.random(in: 200...3000, using: &dice))
        case 14 where canFill: return .fullDisk(Int.random(in: 100...1500, using: &dice))
        default: return weather(isShort: isShort, using: &dice)
        }
    }

    private static func weather(isShort: Bool, using dice: inout Dice) -> Step {
        let moment = Int.random(in: 300...3000, using: &dice)
        switch Int.random(in: 0..<(isShort ? 5 : 10), using: &dice) {
        case 0: return .weather(.reset, moment)
        case 1: return .weather(.down, moment)
        case 2: return .weather(.slow(20...Int.random(in: 30...400, using: &dice)), moment)
        case 3: return .weather(.rough(lost: 100, doubled: 50, late: 200), moment)
        case 4: return .weather(.silent, moment)
        case 5: return .weather(.forgotten, moment)
        case 6: return .weather(.silentAfter(bytes: Int.random(in: 0...6000, using: &dice)), moment)
        case 7: return .weather(.deafAgent, moment)
        case 8: return .weather(.deafServer, moment)
        // Longer than the agent takes to notice a dead link.
        default: return .weather(.silent, Int.random(in: 22_000...26_000, using: &dice))
        }
    }
}

extension CrashPlan.Step: CustomStringConvertible {
    package var description: String {
        switch self {
        case .drive(let time): "drive \(time) ms"
        case .kill(let victim): "kill \(victim)"
        case .killTwice(let victim, let time): "kill \(victim), again after \(time) ms"
        case .killBoth: "kill agent and server"
        case .restart(let victim): "restart \(victim)"
        case .freeze(let victim, let time): "freeze \(victim) \(time) ms"
        case .weather(let weather, let time): "link \(weather) \(time) ms"
        case .fullDisk(let time): "disk full \(time) ms"
        }
    }
}
