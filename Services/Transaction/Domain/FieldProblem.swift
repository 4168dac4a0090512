/// A field of a request that breaks a rule which needs no database.
struct FieldProblem: Error, Equatable {
    /// A JSON pointer into the body.
    let pointer: String
    /// What is expected, for people.
    let detail: String
}
