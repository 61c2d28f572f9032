import TrackModel
import TrackStore

extension TrackStoreContract {
    /// How answers look: ``ServiceStore``.
    package static var answers: [TrackStoreCheck] {
        [
            TrackStoreCheck("a service says how its clients are answered, and a part of it may be left open") {
                subject in
                let (store, service) = try await subject.withService()
                let other = try await store.createService(named: "other", at: .at(1)).id
                try expect(try await store.answers(of: service), is: AnswerForms(), "at first")
                for vertices in [VertexForm.objects, .text, nil] {
                    for status in [UnknownEntityStatus.notFound, .success, nil] {
                        let answers = AnswerForms(vertices: vertices, unknownEntity: status)
                        try await store.setAnswers(answers, of: service)
                        try expect(try await store.answers(of: service), is: answers, "set")
                        try expect(try await store.services().map(\.answers), is: [answers, AnswerForms()], "listed")
                        try expect(try await store.answers(of: other), is: AnswerForms(), "of the other")
                    }
                }
                try await store.setAnswers(AnswerForms(vertices: .text), of: service)
                try await store.renameService(service, to: "new")
                try expect(try await store.answers(of: service).vertices, is: .text, "after a change of something else")
            },
            TrackStoreCheck("a service that is not there says nothing") { subject in
                let (store, service) = try await subject.withService()
                let missing = try unwrapped(ServiceID(rawValue: 99), "a number")
                try await expect(.unknownService) { try await store.answers(of: missing) }
                try await expect(.unknownService) { try await store.setAnswers(AnswerForms(), of: missing) }
                try await store.deleteService(service)
                try await expect(.unknownService) { try await store.answers(of: service) }
            },
        ]
    }
}
