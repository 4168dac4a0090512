import Foundation
import HTTPTypes
import Hummingbird
import Primitives
import ServiceKit

/// Lists of events as JSON texts.
///
/// Envelopes go in as they were published, byte for byte: to read and write them again would lose what this version does
/// not know.
enum EventListText {
    /// `{"data":[...],"next_cursor":...}`.
    static func list(_ events: some Collection<StoredEvent>, nextCursor: String?) -> APIResponse {
        let data = events.map(Self.text).joined(separator: ",")
        // A cursor is base64url.
        let cursor = nextCursor.map { #""\#($0)""# } ?? "null"
        return APIResponse(.ok, body: Array(#"{"data":[\#(data)],"next_cursor":\#(cursor)}"#.utf8))
    }

    /// Envelopes alone, one per line; the cursor is a header.
    static func lines(_ events: some Collection<StoredEvent>, nextCursor: String) -> APIResponse {
        var bytes: [UInt8] = []
        for event in events {
            // In JSON a line break is only ever white space between its parts. By bytes: the two together are one letter.
            bytes += event.body.utf8.map {
                $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return APIResponse(
            .ok,
            body: bytes,
            headers: [.contentType: "application/jsonl", .nextID: nextCursor]
        )
    }

    /// One event.
    static func one(_ event: StoredEvent) -> APIResponse { APIResponse(.ok, body: Array(Self.text(event).utf8)) }

    private static func text(_ event: StoredEvent) -> String {
        #"{"position":\#(event.position),"stored_at":"\#(Timestamp.text(event.storedAt))","#
            + #""origin":"\#(event.origin)","event":\#(event.body)}"#
    }
}
