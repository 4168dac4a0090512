import Foundation
import Testing

extension Tools {
    /// That the authorization matrix notices what is wrong.
    @Suite struct AuthorizationTableTests {
        private static let marks = OwnersMarks(secret: ["0123456789"], recognisable: ["ada"])

        private func problems(
            _ asker: Asker,
            _ status: Int,
            _ code: String?,
            _ text: String,
            _ cell: String
        ) throws -> Int {
            let answered = AccessCase(operation: "GET /a", asker: asker, status: status, code: code, text: text)
            return answered.problems(try ExpectedAnswer(cell), Self.marks).count
        }

        @Test("an operation without a row and a row without an operation are found")
        func rows() throws {
            let table = try AuthorizationTable(
                markdown: """
                    | operation | no token | other user | owner | receive-only merchant | frozen account | closed account |
                    |---|---|---|---|---|---|---|
                    | `GET /a` | 401 | 404 | 200 | 200 | 200 | 200 |
                    | `GET /b` | 401 | 404 | 200 | 200 | 200 | 200 |
                    """
            )
            #expect(table.differences(from: ["GET /a", "GET /b"]) == [])
            #expect(table.differences(from: ["GET /a", "GET /c"]).count == 2)
            #expect(throws: (any Error).self) { try AuthorizationTable(markdown: "| `GET /a` | 401 | 404 |") }
            #expect(throws: (any Error).self) { try ExpectedAnswer("maybe") }
        }

        @Test("another status or code than the cell's is found")
        func answers() throws {
            #expect(try self.problems(.frozen, 403, "sender_restricted", "", "403 sender_restricted") == 0)
            #expect(try self.problems(.frozen, 403, "receive_only", "", "403 sender_restricted") == 1)
            #expect(try self.problems(.frozen, 202, nil, "", "403 sender_restricted") == 1)
            #expect(try self.problems(.owner, 202, nil, "", "200 or 202") == 0)
            #expect(try self.problems(.owner, 404, "not_found", "", "200 or 202") == 1)
        }

        @Test("what shows the owner to others is found, also in a refusal, unless the owner has shared it")
        func marks() throws {
            #expect(try self.problems(.stranger, 200, nil, #"{"username":"ada"}"#, "200") == 1)
            #expect(try self.problems(.stranger, 200, nil, #"{"username":"ada"}"#, "200 shared") == 0)
            #expect(try self.problems(.stranger, 200, nil, #"{"number":"0123456789"}"#, "200 shared") == 1)
            #expect(try self.problems(.nobody, 401, nil, "who is ada?", "401") == 1)
            #expect(try self.problems(.owner, 200, nil, #"{"username":"ada"}"#, "200") == 0)
        }
    }
}
