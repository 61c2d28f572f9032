/// An entity's name, compared byte by byte as the store compares it.
///
/// `String` takes two spellings of one text for equal (é as one character, or as e and an accent). To the store these are
/// two entities.
struct ExactName: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
