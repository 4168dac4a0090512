import Foundation

// Foundation writes a UUID in upper case, and no strategy of its encoder says otherwise; RFC 9562 (section 4) asks for
// lower case. The `encode(to:)` that the compiler writes for a type calls these two, because they are more specific
// than the generic ones. So a type with ids on the wire belongs into this module, or imports it.
extension KeyedEncodingContainer {
    /// Writes an id in lower case.
    public mutating func encode(_ id: UUID, forKey key: Key) throws {
        try self.encode(id.uuidString.lowercased(), forKey: key)
    }

    /// Writes an id in lower case, or nothing.
    public mutating func encodeIfPresent(_ id: UUID?, forKey key: Key) throws {
        try self.encodeIfPresent(id?.uuidString.lowercased(), forKey: key)
    }
}
