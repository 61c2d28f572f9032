package import AgentControl
internal import FenceDelivery
internal import FenceJSON
internal import Geodesy
internal import Geofencing
package import JSON
internal import LocalFences
package import NIOCore
internal import TrackModel

// The vehicle's own fences on the control interface.
extension Agent {
    package func createFence(_ definition: JSONValue) -> EventLoopFuture<FenceReply> {
        let read = try? FenceForms.definition(definition, in: .createFence)
        return fencesChanged(in: .createFence, to: read.map { [$0] } ?? []) {
            [self] (shell) throws(AgentControlError) in
            let definition = try FenceForms.definition(definition, in: .createFence)
            let now = context.systemTime
            return try shell.change(in: .createFence) { (machine) throws(FenceRefusal) in
                let (numbers, actions) = try machine.create([definition], now: now)
                return (FenceReply(fenceID: Int64(numbers.first ?? 0), revision: 1), actions)
            }
        }
    }

    package func updateFence(_ fence: Int64, _ definition: JSONValue) -> EventLoopFuture<FenceReply> {
        let number = Int32(clamping: fence)
        let shape = fenceShell.current.table.fences[number]?.fence.definition.shape
        let read = try? FenceForms.definition(definition, shape: shape, in: .updateFence)
        return fencesChanged(in: .updateFence, to: read.map { [$0] } ?? []) {
            [self] (shell) throws(AgentControlError) in
            let shape = shell.current.table.fences[number]?.fence.definition.shape
            let now = context.systemTime
            // Whether there is such a fence is said first.
            let definition: FenceDefinition? =
                shape == nil ? nil : try FenceForms.definition(definition, shape: shape, in: .updateFence)
            return try shell.change(in: .updateFence) { (machine) throws(FenceRefusal) in
                guard let definition else { throw FenceRefusal(unknown: number) }
                let (_, actions) = try machine.update(number, definition, now: now)
                let revision = machine.table.fences[number]?.fence.revision ?? 0
                return (FenceReply(fenceID: fence, revision: Int64(revision)), actions)
            }
        }
    }

    package func deleteFences(_ selection: FenceSelection) -> EventLoopFuture<DeleteFencesReply> {
        fencesChanged(in: .deleteFences) { (shell) throws(AgentControlError) in
            var found = FenceForms.all(selection, of: shell.current).filter { fence in
                guard let entity = selection.entity else { return true }
                return fence.fence.definition.watch.entities == [ExactName(entity)]
            }.map(\.fence.id)
            // A number that is none is told, and nothing is deleted.
            for number in selection.fences ?? [] where !shell.current.table.fences.contains(Int32(clamping: number)) {
                found.append(Int32(clamping: number))
            }
            let numbers = found
            return try shell.change(in: .deleteFences) { (machine) throws(FenceRefusal) in
                let actions = try machine.delete(numbers)
                return (DeleteFencesReply(deleted: numbers.map { Int64($0) }), actions)
            }
        }
    }

    package func importFences(_ part: FenceImportPart) -> EventLoopFuture<ImportFencesReply> {
        let taken = fenceShell.take(
            .init(
                file: part.file, layer: part.layer, text: part.text, name: part.importID, number: part.part,
                isLast: part.isLast))
        return taken.assumeIsolated().flatMap { [self] taken in
            switch taken {
            case .part(let lines):
                context.loop.makeSucceededFuture(ImportFencesReply(received: Int64(lines), done: false))
            case .whole(let whole): importing(whole)
            }
        }.nonisolated()
    }

    private func importing(_ whole: FenceImports.Whole) -> EventLoopFuture<ImportFencesReply> {
        let learned =
            fenceShell.learnZones(of: whole.definitions + whole.changes.map(\.definition))
            ?? context.loop.makeSucceededVoidFuture()
        let imported = learned.assumeIsolated().flatMap { [self] in fenceShell.importing(whole) }
        let reply = imported.map { done in
            ImportFencesReply(
                received: Int64(whole.count), done: true, created: Int64(done.created.count),
                updated: Int64(done.updated.count), unchanged: Int64(done.unchanged.count),
                deleted: Int64(done.deleted.count))
        }
        return remembered(reply.nonisolated(), in: .importFences, by: fenceShell.whenDurable)
    }

    /// `definitions`: of fences whose time zones must be known first.
    private func fencesChanged<Reply: DurableReply>(
        in method: AgentMethod, to definitions: [FenceDefinition] = [],
        _ change: @escaping (FenceShell) throws(AgentControlError) -> Reply
    ) -> EventLoopFuture<Reply> {
        guard let learned = fenceShell.learnZones(of: definitions) else { return fencesChangedNow(in: method, change) }
        let promise = context.loop.makePromise(of: Reply.self)
        learned.assumeIsolated().whenComplete { [self] _ in
            fencesChangedNow(in: method, change).cascade(to: promise)
        }
        return promise.futureResult
    }

    private func fencesChangedNow<Reply: DurableReply>(
        in method: AgentMethod, _ change: (FenceShell) throws(AgentControlError) -> Reply
    ) -> EventLoopFuture<Reply> {
        do throws(AgentControlError) {
            let reply = try change(fenceShell)
            return remembered(context.loop.makeSucceededFuture(reply), in: method, by: fenceShell.whenDurable)
        } catch {
            return context.loop.makeFailedFuture(error)
        }
    }

    // MARK: Questions

    package func fences(_ selection: FenceSelection) -> EventLoopFuture<FencesReply> {
        context.loop.makeSucceededFuture(
            selection.source == .server
                ? FenceForms.page(selection, of: serverFences.current)
                : FenceForms.page(selection, of: fenceShell.current))
    }

    package func exportFences(_ selection: FenceSelection, position: String?) -> EventLoopFuture<ExportFencesReply> {
        do throws(FenceRefusal) {
            let piece = try FenceExport.piece(of: FenceForms.all(selection, of: fenceShell.current), from: position)
            return context.loop.makeSucceededFuture(ExportFencesReply(text: piece.text, position: piece.position))
        } catch {
            return context.loop.makeFailedFuture(AgentControlError(error, in: .exportFences))
        }
    }

    package func fenceStatus(
        of entity: String?, at place: AssumedPlace?, _ selection: FenceSelection
    ) -> EventLoopFuture<FenceStatusReply> {
        let entity = entity ?? service.entity
        do throws(AgentControlError) {
            let coordinate = try place.map { (place) throws(AgentControlError) in try FenceForms.coordinate(of: place) }
            var filter = FenceForms.filter(selection)
            filter.entity = entity
            guard selection.source == .local else {
                return context.loop.makeSucceededFuture(
                    serverFenceStatus(of: entity, at: coordinate, filter))
            }
            let isCut = fenceShell.current.list(filter).isCut
            let found =
                if let coordinate { fenceShell.current.status(of: entity, at: coordinate, filter) } else {
                    fenceShell.current.status(of: entity, filter)
                }
            return context.loop.makeSucceededFuture(
                FenceStatusReply(entity: entity, statuses: found.map(FenceForms.report), more: isCut))
        } catch {
            return context.loop.makeFailedFuture(error)
        }
    }

    private func serverFenceStatus(
        of entity: String, at place: Coordinate?, _ filter: LocalFenceFilter
    ) -> FenceStatusReply {
        let machine = serverFences.current
        return FenceStatusReply(
            entity: entity, statuses: machine.status(of: entity, at: place, filter).map(FenceForms.report),
            more: machine.list(filter).isCut)
    }

    /// Milliseconds since 1970, in 2001: smaller numbers of changes are no times.
    private static let firstTimeOfAChange: Int64 = 1_000_000_000_000

    /// The server's fences, and what became of their alarms; nil when there was never anything to say.
    var serverFencesStatus: ServerFencesStatus? {
        let (shell, machine) = (serverFences, serverFences.current)
        let told = shell.told.values.reduce(0, +)
        let trouble = shell.updateTrouble ?? shell.fileTrouble
        let waiting = earlyAlarms.reportsWaiting + earlyAlarms.waitingCount
        guard machine.set.version > 0 || told > 0 || waiting > 0 || trouble != nil else { return nil }
        var status = ServerFencesStatus(
            version: Int64(clamping: machine.set.version), kept: Int64(machine.set.fences.count),
            inside: Int64(machine.insideCount), alarms: Int64(clamping: told),
            confirmed: Int64(clamping: earlyAlarms.confirmedCount),
            unconfirmed: Int64(clamping: earlyAlarms.overdueCount),
            reportsWaiting: Int64(earlyAlarms.reportsWaiting), remembered: shell.remembered)
        // The number of a change is its time, but for those of a store that was made before, and of one without changes.
        status.changedTime = status.version >= Self.firstTimeOfAChange ? status.version : nil
        status.completeWithin = machine.set.reach.map { Int64($0.metres) }
        status.notJudged = Int64(machine.notJudged.count)
        let reasons = Set(machine.notJudged.values).sorted().prefix(ServerFencesStatus.mostReasons)
        status.notJudgedReasons = reasons.isEmpty ? nil : Array(reasons)
        (status.sent, status.updatesRefused) = (shell.isSent, Int64(clamping: shell.refusedUpdates))
        (status.lastError, status.fileError) = (shell.updateTrouble, shell.fileTrouble)
        status.confirmationsWaiting = Int64(earlyAlarms.waitingCount)
        status.reportsElsewhere = Int64(earlyAlarms.reportsElsewhere)
        status.reportsWaitingSince =
            earlyAlarms.reportsWaiting > 0 ? earlyAlarms.unansweredSince?.milliseconds : nil
        return status
    }
}

/// Fences in the words of the control interface.
enum FenceForms {
    /// The most bytes and values of JSON in one page of fences. A message has at most 1 MiB and 65,536 values.
    private static let pageBytes = 512 * 1024
    private static let pageValues = 40_000

    /// Reads a definition. `shape`: the shape when it has none.
    static func definition(
        _ value: JSONValue, shape: ShapeDraft? = nil, in method: AgentMethod
    ) throws(AgentControlError) -> FenceDefinition {
        do throws(FenceJSONError) {
            return try FenceDefinition(json: value, shape: shape)
        } catch {
            throw AgentControlError(.parameterError, in: method, reason: "\(error)", parameter: "fence")
        }
    }

    static func filter(_ selection: FenceSelection) -> LocalFenceFilter {
        var filter = LocalFenceFilter()
        filter.fences = selection.fences.map { Set($0.map { Int32(clamping: $0) }) }
        (filter.name, filter.group, filter.entity) = (selection.name, selection.group, selection.entity)
        (filter.file, filter.layer) = (selection.file, selection.layer)
        (filter.after, filter.limit) = (Int32(clamping: selection.after), Int(clamping: selection.limit))
        return filter
    }

    /// Every fence that matches, whatever the limit is.
    static func all(_ selection: FenceSelection, of machine: FenceMachine) -> [LocalFence] {
        var filter = filter(selection)
        (filter.after, filter.limit) = (0, .max)
        return machine.list(filter).fences
    }

    static func page(_ selection: FenceSelection, of machine: FenceMachine) -> FencesReply {
        let (found, isCut) = machine.list(filter(selection))
        return page(isCut: isCut, found) { fence in
            report(of: fence.fence, vertices: fence.vertexCount, trouble: machine.trouble(of: fence))
        }
    }

    static func page(_ selection: FenceSelection, of machine: ServerFenceMachine) -> FencesReply {
        let (found, isCut) = machine.list(filter(selection))
        return page(isCut: isCut, found) { fence in
            report(of: fence.fence, vertices: fence.vertexCount, trouble: machine.notJudged[fence.fence.id])
        }
    }

    private static func page<Kept>(
        isCut: Bool, _ found: [Kept], _ report: (Kept) -> LocalFenceReport
    ) -> FencesReply {
        var reply = FencesReply(fences: [], more: isCut)
        var (bytes, values) = (0, 0)
        for fence in found {
            let report = report(fence)
            bytes += report.fence.serialized().count
            values += count(report.fence)
            guard reply.fences.isEmpty || (bytes <= pageBytes && values <= pageValues) else {
                reply.more = true
                break
            }
            reply.fences.append(report)
        }
        return reply
    }

    private static func report(of fence: Fence, vertices: Int, trouble: String?) -> LocalFenceReport {
        let isSmall = vertices <= LocalFenceReport.mostVertices
        return LocalFenceReport(
            id: Int64(fence.id), revision: Int64(fence.revision), created: fence.created.milliseconds,
            modified: fence.modified.milliseconds, vertices: Int64(vertices), trouble: trouble,
            fence: isSmall ? fence.definition.json : .object(fence.definition.rules))
    }

    /// Values of JSON, arrays and objects included.
    private static func count(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): elements.reduce(1) { $0 + count($1) }
        case .object(let members): members.values.reduce(1) { $0 + count($1) }
        default: 1
        }
    }

    /// - Throws: for degrees that are no place.
    static func coordinate(of place: AssumedPlace) throws(AgentControlError) -> Coordinate {
        let degrees = DatumConversion.wgs84(
            Degrees(latitude: place.latitude, longitude: place.longitude), givenAs: place.coordinateType.datum
        ).place
        guard let coordinate = Coordinate(latitude: degrees.latitude, longitude: degrees.longitude) else {
            throw AgentControlError(
                .parameterError, in: .getFenceStatus,
                reason:
                    "latitude \(place.latitude), longitude \(place.longitude) is no place on earth: check coord_type",
                parameter: "place")
        }
        return coordinate
    }

    /// Where an entity is with regard to one fence.
    static func report(_ status: LocalFenceStatus) -> FenceStatusReport {
        let place: FenceStatusReport.Place =
            switch status.status.place {
            case .in: .inside
            case .out: .outside
            case .unknown: .unknown
            }
        return FenceStatusReport(
            fenceID: Int64(status.fence), name: status.name, status: place,
            since: status.status.since?.milliseconds,
            distance: status.status.signedDistance.map { ($0 * 1000).rounded() / 1000 },
            time: status.status.time?.milliseconds)
    }
}

extension AgentControlError {
    init(_ refusal: FenceRefusal, in method: AgentMethod) {
        let code: Code
        var parameter: String?
        switch refusal.reason {
        case .unknownFence: (code, parameter) = (.fenceNotFound, method == .updateFence ? "fence_id" : "fences")
        case .definition: (code, parameter) = (.parameterError, method == .importFences ? "text" : "fence")
        case .text: (code, parameter) = (.parameterError, method == .exportFences ? "position" : "text")
        case .tooMany: code = .tooManyFences
        case .unreadable: code = .internalError
        }
        self.init(code, in: method, reason: refusal.description, parameter: parameter)
    }
}
