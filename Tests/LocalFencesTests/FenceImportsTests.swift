import Geodesy
import Geofencing
import JSON
import Testing
import TrackModel

@testable import LocalFences

@Suite struct FenceImportsTests {
    private static let begin = MonotonicTime(milliseconds: 1000)

    private func line(_ feature: String, radius: Double = 50, file: String = "yards") -> String {
        """
        {"name":"é \(feature)","origin":{"file":"\(file)","feature":"\(feature)"},"shape":{"kind":"circle",\
        "latitude":40,"longitude":116,"radius":\(radius)}}\n
        """
    }

    private func part(
        _ text: String, _ number: Int64 = 0, name: String? = "i", isLast: Bool = true
    ) -> FenceImports.Part {
        .init(file: "yards", layer: nil, text: text, name: name, number: number, isLast: isLast)
    }

    private func whole(_ taken: FenceImports.Taken) throws -> FenceImports.Whole {
        guard case .whole(let whole) = taken else { throw FenceRefusal(.text, "a part") }
        return whole
    }

    private func reason(_ body: () throws -> some Any) -> String {
        do { return "taken: \(try body())" } catch { return "\(error)" }
    }

    @Test func aTextInPartsIsTheSameAsAWholeOne() throws {
        let text = line("1") + "\n  \r\n{\"keep\":\"7\"}\n" + line("2").dropLast()
        var imports = FenceImports()
        let once = try whole(imports.take(part(text, name: nil), now: Self.begin))
        #expect(once.definitions.map(\.origin?.feature) == ["1", "2"] && once.kept == ["7"] && once.lines == [1, 5])
        // Cut between any two characters.
        for cut in 0...text.count {
            let first = try imports.take(part(String(text.prefix(cut)), isLast: false), now: Self.begin)
            #expect(first == .part(lines: text.prefix(cut).count { $0 == "\n" || $0 == "\r\n" }))
            #expect(try whole(imports.take(part(String(text.dropFirst(cut)), 1), now: Self.begin)) == once)
        }
        #expect(imports.count == 0)
    }

    @Test func partsComeInOrderAndInTime() throws {
        var imports = FenceImports()
        #expect(reason { try imports.take(part("", 1), now: Self.begin) }.contains("begin anew with part 0"))
        _ = try imports.take(part("", isLast: false), now: Self.begin)
        #expect(reason { try imports.take(part("", 2), now: Self.begin) }.contains("part 1 is due"))
        // A part that comes wrongly does not end the import.
        _ = try imports.take(part("", 1, isLast: false), now: Self.begin)
        #expect(reason { try imports.take(part("", 2), now: Self.begin + 60_000) }.contains("no part before it"))
        // Others may begin while there is room, and a whole one always may.
        _ = try imports.take(part("", name: "a", isLast: false), now: Self.begin)
        _ = try imports.take(part("", name: "b", isLast: false), now: Self.begin)
        #expect(reason { try imports.take(part("", name: "c", isLast: false), now: Self.begin) }.contains("2 imports"))
        _ = try imports.take(part("", name: "a", isLast: false), now: Self.begin)
        _ = try whole(imports.take(part("", name: nil), now: Self.begin))
        let other = FenceImports.Part(file: "x", layer: nil, text: "", name: "a", number: 1, isLast: true)
        #expect(reason { try imports.take(other, now: Self.begin) }.contains("different files"))
    }

    @Test func aWrongLineIsNamedAndEndsTheImport() throws {
        var imports = FenceImports()
        for (text, expected) in [
            ("{", "line 2: "), ("[]", "line 2: fence is an array"), ("{\"keep\":5}", "line 2: keep is a"),
            (line("9", file: "x"), "line 2: fence.origin must name"),
            (line("1"), "line 2: the feature '1' stands twice"),
            ("{\"shape\":{\"kind\":\"x\"}}", "line 2: fence.shape.kind"),
        ] {
            let found = reason { try imports.take(part(line("1") + text, isLast: true), now: Self.begin) }
            #expect(found.contains(expected), "\(found)")
            #expect(imports.count == 0)
        }
    }

    @Test func aTextHasLimits() throws {
        var limits = FenceImports.Limits()
        (limits.bytes, limits.lineBytes, limits.lines) = (2000, 300, 5)
        var imports = FenceImports(limits: limits)
        let long = String(repeating: "x", count: 301)
        #expect(reason { try imports.take(part(long, isLast: false), now: Self.begin) }.contains("more than 300 bytes"))
        let lines = String(repeating: "\n", count: 6)
        #expect(reason { try imports.take(part(lines, isLast: false), now: Self.begin) }.contains("more than 5 lines"))
        let text = String(repeating: "x", count: 2001)
        #expect(reason { try imports.take(part(text), now: Self.begin) }.contains("more than 2000 bytes"))
        #expect(imports.count == 0)
    }

    // MARK: The machine

    @Test func aSecondImportUpdatesAddsKeepsAndRemoves() throws {
        var (machine, imports) = (FenceMachine(), FenceImports())
        func bring(_ text: String) throws -> LocalFenceTable.Imported {
            let whole = try whole(imports.take(part(text, name: nil), now: Self.begin))
            return try machine.importing(whole, now: SystemTime(milliseconds: 5)).outcome
        }
        let first = try bring(line("1") + line("2") + line("3"))
        #expect(first.created == [1, 2, 3])
        let again = try bring(line("1") + line("2") + line("3"))
        #expect(again.unchanged == [1, 2, 3] && again.created.isEmpty && again.updated.isEmpty)
        let second = try bring(line("1", radius: 60) + "{\"keep\":\"2\"}\n{\"keep\":\"none\"}\n" + line("4"))
        #expect(second.updated == [1] && second.unchanged == [2] && second.created == [4] && second.deleted == [3])
        // All or nothing.
        let wrong = reason { try bring(line("1", radius: 70) + line("5", radius: -1)) }
        #expect(wrong.hasPrefix("line 2: "), "\(wrong)")
        #expect(machine.table.all.map(\.fence.id) == [1, 2, 4])
        #expect(machine.table.fences[1]?.fence.revision == 2)
    }

    /// A fence of another origin changes by its number, with the others or not at all.
    @Test func aFenceOfAnyOriginIsChanged() throws {
        var (machine, imports) = (FenceMachine(), FenceImports())
        let hand = FenceDefinition(ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 50)))
        _ = try machine.create([hand], now: SystemTime(milliseconds: 5))
        func bring(_ text: String) throws -> LocalFenceTable.Imported {
            let whole = try whole(imports.take(part(text, name: nil), now: Self.begin))
            return try machine.importing(whole, now: SystemTime(milliseconds: 6)).outcome
        }
        #expect(try bring(line("a")).created == [2])
        var moved = hand
        moved.shape = ShapeDraft(.circle(centre: Degrees(latitude: 41, longitude: 116), radius: 50))
        func change(_ number: JSONValue, _ definition: FenceDefinition) -> String {
            guard case .circle(let centre, let radius) = definition.shape.outline else { return "" }
            var fence: [String: JSONValue] = [
                "shape": [
                    "kind": "circle", "latitude": .double(centre.latitude), "longitude": .double(centre.longitude),
                    "radius": .double(radius),
                ]
            ]
            if let origin = definition.origin {
                fence["name"] = .string(definition.name)
                fence["origin"] = ["file": .string(origin.file), "feature": .string(origin.feature)]
            }
            return (["change": number, "fence": .object(fence)] as JSONValue).description + "\n"
        }
        let second = try bring(line("a") + change(1, moved))
        #expect(second.updated == [1] && second.unchanged == [2] && second.deleted.isEmpty && second.created.isEmpty)
        #expect(machine.table.fences[1]?.fence.definition == moved)
        // Also one of the same file, which no other line names.
        let own = try #require(machine.table.fences[2]?.fence.definition)
        #expect(try bring(change(2, own)).unchanged == [2])
        for (text, reason) in [
            (change(9, moved), "9"), (change("x", moved), "change is"),
            (change(1, moved) + change(1, hand), "stands twice"),
        ] {
            #expect(self.reason { try bring(line("b") + text) }.contains(reason))
        }
        #expect(machine.table.all.map(\.fence.id) == [1, 2])
    }

    // MARK: Worked out beside the loop

    private func fix(_ second: Int64, east metres: Double) throws -> Fix {
        let place = try #require(Coordinate(latitude: 40, longitude: 116 + metres / 85_000))
        return Fix(time: Timestamp(seconds: 1_780_000_000 + second), coordinate: place, accuracy: 30)
    }

    /// All of its fences watch everybody.
    private func importOf(_ text: String) throws -> FenceImports.Whole {
        var imports = FenceImports()
        let watching = text.replacing("{\"name\"", with: "{\"watch\":\"#allentity\",\"name\"")
        return try whole(imports.take(part(watching, name: nil), now: Self.begin))
    }

    /// However many points come meanwhile, the fences are the same as those of an import at once.
    @Test func workBesideTheLoopMakesTheSameFences() throws {
        for pointsMeanwhile in [0, 1, 5] {
            var (beside, atOnce) = (FenceMachine(), FenceMachine())
            func play(_ seconds: ClosedRange<Int64>) throws {
                for second in seconds {
                    _ = beside.fix(try fix(second, east: 500))
                    _ = atOnce.fix(try fix(second, east: 500))
                }
            }
            _ = (beside.started(entity: "van", service: 7), atOnce.started(entity: "van", service: 7))
            try play(0...3)
            for text in [line("1") + line("2") + line("3"), line("1", radius: 60) + line("2") + line("4")] {
                let (whole, now) = (try importOf(text), SystemTime(milliseconds: 5))
                let done = try beside.beginImport(whole, now: now).run()
                let second = Int64(beside.counters.judged)
                if pointsMeanwhile > 0 { try play(second...(second + Int64(pointsMeanwhile) - 1)) }
                let found = beside.adopt(done)
                let adopted = try #require(found)
                let expected = try atOnce.importing(whole, now: now)
                #expect(adopted.outcome == expected.outcome && adopted.actions == expected.actions)
                #expect(beside.table == atOnce.table, "\(pointsMeanwhile) points meanwhile")
            }
            // Both judge the same from now on.
            var actions = 0
            for second in 20...60 as ClosedRange<Int64> {
                let fix = try fix(second, east: 500 - Double(second - 20) * 20)
                let (one, other) = (beside.fix(fix), atOnce.fix(fix))
                #expect(one == other)
                actions += one.count
            }
            #expect(beside.outbox == atOnce.outbox && actions > 0)
        }
    }

    @Test func whatWasWorkedOutForOtherFencesIsNotAdopted() throws {
        let definition = try importOf(line("9")).definitions
        let changes: [(inout FenceMachine) throws -> Void] = [
            { _ = try $0.create(definition, now: SystemTime(milliseconds: 5)) },
            { _ = try $0.delete([1]) },
            { _ = $0.started(entity: "bus", service: 7) },
            { _ = $0.zonesRead([:]) },
        ]
        for change in changes {
            var machine = FenceMachine()
            _ = machine.started(entity: "van", service: 7)
            _ = try machine.importing(importOf(line("1")), now: SystemTime(milliseconds: 5))
            let work = try machine.beginImport(importOf(line("1") + line("2")), now: SystemTime(milliseconds: 6))
            let done = try work.run()
            #expect(machine.isCurrent(work))
            try change(&machine)
            #expect(!machine.isCurrent(work))
            let table = machine.table
            #expect(machine.adopt(done) == nil && machine.table == table)
        }
    }

    @Test func aRefusalOfTheWorkNamesTheLine() throws {
        var machine = FenceMachine()
        let work = try machine.beginImport(
            importOf(line("1") + line("5", radius: -1)), now: SystemTime(milliseconds: 5))
        #expect(reason { try work.run() }.hasPrefix("line 2: "))
        var unreadable = FenceMachine(unreadable: "the disk is gone")
        #expect(
            reason { try unreadable.beginImport(importOf(line("1")), now: SystemTime(milliseconds: 5)) }.contains(
                "gone"))
        _ = machine.zonesRead([:])
        _ = unreadable.zonesRead([:])
    }

    // MARK: Out again

    @Test(arguments: [1, 3, 50, 90, 1000, FenceExport.pieceBytes]) func piecesMakeTheWholeText(most: Int) throws {
        var (machine, imports) = (FenceMachine(), FenceImports())
        let text = (1...4).map { line("é\($0)") }.joined()
        _ = try machine.importing(
            whole(imports.take(part(text, name: nil), now: Self.begin)), now: SystemTime(milliseconds: 5))
        let expected = try FenceExport.piece(of: Array(machine.table.all), from: nil)
        #expect(expected.position == nil && expected.text.split(separator: "\n").count == 4)
        // A character is never cut, so a piece of one byte cannot go on.
        guard most > 1 else { return }
        var (found, position, count) = ("", String?.none, 0)
        repeat {
            let piece = try FenceExport.piece(of: Array(machine.table.all), from: position, most: most)
            #expect(piece.text.utf8.count <= most)
            found += piece.text
            position = piece.position
            count += 1
        } while position != nil && count < 2000
        #expect(found == expected.text)
        for line in found.split(separator: "\n") {
            let value = try JSONReader.value(of: Array(line.utf8))
            #expect(value["id"] != nil && value["fence"]?["name"] != nil)
        }
    }

    @Test func aFenceThatChangesWhileItIsReadIsTold() throws {
        var machine = FenceMachine()
        var definition = FenceDefinition(
            ShapeDraft(.circle(centre: Degrees(latitude: 40, longitude: 116), radius: 50)))
        _ = try machine.create([definition, definition], now: SystemTime(milliseconds: 5))
        let piece = try FenceExport.piece(of: Array(machine.table.all), from: nil, most: 20)
        let position = try #require(piece.position)
        definition.name = "x"
        _ = try machine.update(1, definition, now: SystemTime(milliseconds: 6))
        #expect(reason { try FenceExport.piece(of: Array(machine.table.all), from: position) }.contains("has changed"))
        for wrong in ["", "1", "1.2.3.4.5", "a.1.1.1", "1.1.1.-1"] {
            #expect(reason { try FenceExport.piece(of: Array(machine.table.all), from: wrong) }.contains("no position"))
        }
        // A whole fence that went is no matter.
        #expect(try FenceExport.piece(of: Array(machine.table.all), from: "1.9.9.0").text.isEmpty == false)
        #expect(try FenceExport.piece(of: [], from: "1.9.9.0").text.isEmpty)
    }
}
