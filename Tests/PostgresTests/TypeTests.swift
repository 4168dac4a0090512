import Foundation
import Postgres
import Testing

/// Values go to the server and come back the same.
@Suite struct TypeTests {
    private func roundTrip<Value: PostgresArrayElement & Equatable>(
        _ values: [Value],
        as type: String,
        _ client: PostgresClient
    ) async throws {
        for value in values {
            let rows = try await client.query("SELECT \(value)::\(unsafe: type), \(value as Value?)::\(unsafe: type)")
            let (back, optional) = try rows[0].decode(Value.self, Value?.self)
            #expect(back == value)
            #expect(optional == value)
        }
        let array = values.map { $0 as Value? } + [nil]
        let none: Value? = nil
        let rows = try await client.query(
            "SELECT \(values)::\(unsafe: type)[], \(array)::\(unsafe: type)[], \([Value]())::\(unsafe: type)[], \(none)::\(unsafe: type)"
        )
        let (all, withNull, empty, null) = try rows[0].decode([Value].self, [Value?].self, [Value].self, Value?.self)
        #expect(all == values)
        #expect(withNull == array)
        #expect(empty.isEmpty)
        #expect(null == nil)
    }

    @Test("every type comes back as it was bound, extremes, arrays and nulls included")
    func everyTypeRoundTrips() async throws {
        try await withClient(try serverURL()) { client in
            try await self.roundTrip([true, false], as: "boolean", client)
            try await self.roundTrip([Int16.min, -1, 0, .max], as: "smallint", client)
            try await self.roundTrip([Int32.min, -1, 0, .max], as: "integer", client)
            try await self.roundTrip([Int64.min, -1, 0, .max], as: "bigint", client)
            try await self.roundTrip([Int.min, 0, .max], as: "bigint", client)
            try await self.roundTrip([0.1, -Double.infinity, .greatestFiniteMagnitude], as: "float8", client)
            try await self.roundTrip(["", "Ọ̀yọ́ 🇳🇬", "a'b\\\"{},NULL"], as: "text", client)
            try await self.roundTrip([UUID(), UUID()], as: "uuid", client)
            try await self.roundTrip([[UInt8](0...255), []], as: "bytea", client)
            try await self.roundTrip([Data([0, 1, 255]), Data()], as: "bytea", client)
            let dates = [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1_795_223_225.123_456)]
            for date in dates {
                let rows = try await client.query("SELECT \(date), \([date])")
                let (back, array) = try rows[0].decode(Date.self, [Date].self)
                #expect(abs(back.timeIntervalSince(date)) < 0.000_001)
                #expect(array == [back])
            }
            try await self.roundTrip([PostgresDate(year: 2024, month: 2, day: 29)], as: "date", client)
        }
    }

    @Test("dates and timestamps mean the same day and moment on the server")
    func datesMeanTheSame() async throws {
        try await withClient(try serverURL()) { client in
            let days = [(1, 1, 1), (1899, 12, 31), (1999, 12, 31), (2000, 2, 29), (2000, 3, 1), (2100, 2, 28)]
            for (year, month, day) in days {
                let date = PostgresDate(year: year, month: month, day: day)
                let rows = try await client.query(
                    "SELECT \(date) = make_date(\(year)::int, \(month)::int, \(day)::int)"
                )
                #expect(try rows[0].decode(Bool.self))
                #expect(date.components == (year, month, day))
            }
            let date = Date(timeIntervalSince1970: 1_795_223_225.5)
            let rows = try await client.query("SELECT to_char(\(date) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')")
            #expect(try rows[0].decode(String.self) == "2026-11-21 01:07:05.500")
            let infinite = try await client.query("SELECT 'infinity'::timestamptz, '-infinity'::timestamptz")
            let (future, past) = try infinite[0].decode(Date.self, Date.self)
            #expect(future == .distantFuture)
            #expect(past == .distantPast)
        }
    }

    @Test("text fits json, enums and numbers, and their text can be read")
    func textIsInferred() async throws {
        try await withDatabaseClient { client in
            try await client.withSession { try await $0.simple("CREATE TYPE mood AS ENUM ('calm', 'hot')") }
            let json = #"{"a": [1, null]}"#
            let rows = try await client.query(
                "SELECT \(json)::jsonb, \(json)::json, \("hot")::mood, \("12.50")::numeric, \("5") + 1, 'n'::name"
            )
            let (jsonb, plain, mood, number, sum, name) = try rows[0].decode(
                String.self,
                String.self,
                String.self,
                String.self,
                Int.self,
                String.self
            )
            #expect(jsonb == json)
            #expect(plain == json)
            #expect(mood == "hot")
            #expect(number == "12.50")
            #expect(sum == 6)
            #expect(name == "n")
        }
    }

    @Test(
        "a numeric without a fraction is read as an integer",
        arguments: [
            "0", "1", "10000", "-10000", "9223372036854775807", "-9223372036854775808", "120000000", "7.000",
        ]
    )
    func integralNumeric(text: String) async throws {
        try await withClient(try serverURL()) { client in
            let rows = try await client.query("SELECT \(text)::numeric, \(text)::numeric::bigint, \(text)::numeric")
            let (read, cast, back) = try rows[0].decode(Int64.self, Int64.self, String.self)
            #expect(read == cast)
            #expect(back == text)
        }
    }

    @Test("a numeric that is no Int64 is refused", arguments: ["0.5", "9223372036854775808", "NaN", "1e30"])
    func otherNumeric(text: String) async throws {
        try await withClient(try serverURL()) { client in
            let rows = try await client.query("SELECT \(text)::numeric")
            let error = #expect(throws: PostgresError.self) { try rows[0].decode(Int64.self) }
            #expect(error?.code == .decoding)
        }
    }

    @Test("a wrong type, a null and a missing column are decoding errors that name the column and no value")
    func decodingErrors() async throws {
        try await withClient(try serverURL()) { client in
            let row = try await client.query("SELECT 'secret'::text AS word, null::bigint AS none, 70000 AS big")[0]
            let wrong = #expect(throws: PostgresError.self) { try row.decode(Int.self) }
            #expect(wrong?.code == .decoding)
            #expect(wrong?.message.contains("word") == true)
            #expect(wrong?.description.contains("secret") == false)
            #expect(throws: PostgresError.self) { try row.decode(Int.self, column: "none") }
            #expect(throws: PostgresError.self) { try row.decode(Int16.self, column: "big") }
            #expect(throws: PostgresError.self) { try row.decode(Int.self, column: "absent") }
            #expect(throws: PostgresError.self) { try row.decode(String.self, Int?.self, Int.self, Int.self) }
            #expect(try row["big"].decode(Int32.self) == 70_000)
        }
    }

    @Test("text with a NUL is refused before anything is sent")
    func nulIsRefused() async throws {
        try await withClient(try serverURL()) { client in
            let error = try await postgresError { _ = try await client.query("SELECT \("a\0b")") }
            #expect(error.code == .encoding)
        }
    }

    @Test("fragments keep their own values when statements are put together")
    func fragments() async throws {
        try await withClient(try serverURL()) { client in
            let filter: SQL = "x > \(2) AND x < \(9)"
            let parts: [SQL] = [filter, "x <> \(5)", "true"]
            let sql: SQL =
                "SELECT array_agg(x), \("end") FROM generate_series(\(0), \(10)) x WHERE \(SQL.join(parts, separator: " AND "))"
            let rows = try await client.query(sql)
            let (numbers, text) = try rows[0].decode([Int].self, String.self)
            #expect(numbers == [3, 4, 6, 7, 8])
            #expect(text == "end")
        }
    }
}
