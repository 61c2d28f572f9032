/// The alarms of groups: a group is in when one of its fences is in.
struct GroupJudge {
    /// What changed with this point, in the order of discovery.
    let changes: [FenceChange]
    let step: FenceStep

    /// `isMemberIn` tells whether a fence of the group other than those that changed is in.
    func alarms(isMemberIn: (GroupCode, _ otherThan: Set<Int32>) -> Bool) -> [FenceAlarm] {
        var alarms: [FenceAlarm] = []
        var seen: Set<GroupCode> = []
        for change in changes where seen.insert(change.group).inserted {
            let own = changes.filter { $0.group == change.group }
            // Another member was in all the time: nothing changes for the group.
            guard !isMemberIn(change.group, Set(own.map(\.fence))) else { continue }
            var (first, last): ([Int32: Bool], [Int32: Bool]) = ([:], [:])
            for one in own {
                if first[one.fence] == nil { first[one.fence] = one.isEnter }
                last[one.fence] = one.isEnter
            }
            let wasIn = first.values.contains(false)
            let isIn = last.values.contains(true)
            guard !(wasIn && isIn) else { continue }
            let told = own.compactMap { change in change.crossing.map { (change, $0) } }
            if !wasIn, let enter = told.filter(\.0.isEnter).min(by: { $0.1.time < $1.1.time }),
                enter.0.plan.tells(.enter, at: enter.1.time)
            {
                alarms.append(alarm(.enter, enter))
            }
            if !isIn, let exit = told.filter({ !$0.0.isEnter }).max(by: { $0.1.time < $1.1.time }),
                exit.0.plan.tells(.exit, at: exit.1.time)
            {
                alarms.append(alarm(.exit, exit))
            }
        }
        return alarms
    }

    private func alarm(_ action: FenceAction, _ member: (FenceChange, Crossing)) -> FenceAlarm {
        FenceAlarm(action, of: member.0.plan, group: member.0.group, step: step, crossing: member.1)
    }
}
