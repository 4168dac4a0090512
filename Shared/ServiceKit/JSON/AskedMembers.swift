/// Which members of a body its type has asked for: what nobody asks for would be passed over in silence.
///
/// A type names its members once, by decoding them; there is no second list that could differ from it. Belongs to one
/// decoding.
final class AskedMembers {
    private var names: [String: Set<String>] = [:]

    /// An object at a pointer is read by its members.
    func enter(_ pointer: String) {
        if self.names[pointer] == nil { self.names[pointer] = [] }
    }

    /// A member of the object at a pointer is asked for.
    func note(_ name: String, in pointer: String) {
        self.names[pointer, default: []].insert(name)
    }

    /// The place of the first member, in the order of names, that nobody asked for; nil if there is none.
    ///
    /// A name that none of our members can have is not repeated: then it is the place of the object around it.
    func unasked(in value: StrictJSON, at path: [String] = []) -> String? {
        switch value {
        case .object(let members):
            // What nobody has looked into was taken whole.
            guard let asked = self.names[JSONPointer.text(path)] else { return nil }
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                guard asked.contains(name) else {
                    return JSONPointer.text(StrictJSONParser.couldBeOurs(name) ? path + [name] : path)
                }
                if let place = self.unasked(in: member, at: path + [name]) { return place }
            }
            return nil
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let place = self.unasked(in: element, at: path + [String(index)]) { return place }
            }
            return nil
        case .null, .bool, .number, .string:
            return nil
        }
    }
}
