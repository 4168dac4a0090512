public import Messaging
public import Primitives
public import ServiceKit

extension Exports {
    /// All that a person is given, by table, read page by page as whoever collects it does.
    public func all(
        of person: UserID,
        in service: ServiceDatabase,
        keys: (any DataKeys)? = nil
    ) async throws -> [String: [[String: JSONValue]]] {
        var rows: [String: [[String: JSONValue]]] = [:]
        var cursor: String?
        repeat {
            let page = try await self.page(of: person, from: cursor, on: service.work.client, keys: keys)
            rows[page.table, default: []] += page.rows.compactMap(\.members)
            cursor = page.next
        } while cursor != nil
        return rows.filter { !$0.value.isEmpty }
    }
}
