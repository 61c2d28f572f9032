/// What the fences have to tell of one point, in the order of discovery.
struct FenceTelling {
    var alarms: [FenceAlarm] = []
    /// Changed places of fences that are in a group.
    var changes: [FenceChange] = []

    /// Keeps the room for the next point.
    mutating func clear() {
        alarms.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
    }

    /// Puts the alarms in the order in which they are told, and numbers those that only their number tells apart.
    mutating func arrange() {
        guard alarms.count > 1 else { return }
        alarms.sort(by: FenceAlarm.isBefore)
        for index in alarms.indices.dropFirst() {
            let alarm = alarms[index]
            alarms[index].number = alarms[..<index].count {
                $0.fence == alarm.fence && $0.action == alarm.action && $0.group == alarm.group
            }
        }
    }
}
