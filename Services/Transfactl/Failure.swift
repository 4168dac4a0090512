/// Why a command cannot go on: one sentence for a person.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) { self.description = sentence }
}
