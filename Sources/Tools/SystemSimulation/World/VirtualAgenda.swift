internal import NIOCore

/// What is to be done, by time, and in the order of asking where times are the same: a binary heap of plain numbers beside
/// a table of what they stand for.
struct VirtualAgenda {
    /// Which entry: its place in the table, and its number, because places are used again.
    struct Ticket {
        fileprivate let place: Int
        fileprivate let number: UInt64
    }

    private struct Key {
        let time: UInt64
        let number: UInt64
        let place: Int

        static func < (left: Key, right: Key) -> Bool {
            left.time == right.time ? left.number < right.number : left.time < right.time
        }
    }

    private struct Entry {
        var number: UInt64
        /// Nil: cancelled, or done.
        var task: (() -> Void)?
    }

    private var heap: [Key] = []
    private var entries: [Entry] = []
    private var free: [Int] = []
    private var count: UInt64 = 0

    /// The time of the first entry. It may turn out to be cancelled.
    var next: NIODeadline? { heap.first.map { .uptimeNanoseconds($0.time) } }

    mutating func add(_ deadline: NIODeadline, _ task: @escaping () -> Void) -> Ticket {
        count += 1
        let entry = Entry(number: count, task: task)
        let place: Int
        if let known = free.popLast() {
            place = known
            entries[place] = entry
        } else {
            place = entries.count
            entries.append(entry)
        }
        heap.append(Key(time: deadline.uptimeNanoseconds, number: count, place: place))
        rise(from: heap.count - 1)
        return Ticket(place: place, number: count)
    }

    /// Its key stays until its time has come.
    mutating func cancel(_ ticket: Ticket) {
        guard entries[ticket.place].number == ticket.number else { return }
        entries[ticket.place].task = nil
    }

    /// Removes the first task that is due; nil when none is.
    mutating func take(dueBy time: NIODeadline) -> (() -> Void)? {
        while let first = heap.first, first.time <= time.uptimeNanoseconds {
            let last = heap.removeLast()
            if !heap.isEmpty {
                heap[0] = last
                sink()
            }
            free.append(first.place)
            if let task = entries[first.place].task {
                entries[first.place].task = nil
                return task
            }
        }
        return nil
    }

    private mutating func rise(from start: Int) {
        var index = start
        let key = heap[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard key < heap[parent] else { break }
            heap[index] = heap[parent]
            index = parent
        }
        heap[index] = key
    }

    private mutating func sink() {
        let key = heap[0]
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < key else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = key
    }
}
