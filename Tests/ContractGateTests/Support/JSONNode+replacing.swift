import ContractGate

extension JSONNode {
    /// The same with another value at a place.
    func replacing(_ path: ArraySlice<String>, by value: JSONNode) -> JSONNode {
        guard let name = path.first else { return value }
        var members = self.members ?? [:]
        members[name] = (members[name] ?? [:]).replacing(path.dropFirst(), by: value)
        return .object(members)
    }
}
