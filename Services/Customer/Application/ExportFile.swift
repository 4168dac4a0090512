import Documents
import Foundation
import Messaging
import Primitives
import ServiceKit

/// The text of a person's own data, written page by page.
struct ExportFile: Sendable {
    /// The forms in which it is given.
    enum Form: String, Sendable, CaseIterable, MediaForm {
        case json, csv

        var contentType: String {
            switch self {
            case .json: "application/json"
            case .csv: "text/csv"
            }
        }
    }

    let form: Form
    let export: PersonalExport
    private var service: String?
    private var table: String?
    private var row = 0

    init(_ form: Form, of export: PersonalExport) {
        self.form = form
        self.export = export
    }

    /// What comes before all pages.
    var head: String {
        switch self.form {
        case .json:
            """
            {"user_id":"\(self.export.user)","requested_at":"\(Timestamp.text(self.export.requestedAt))","services":{
            """
        case .csv: CSV.line(["service", "table", "row", "field", "value"])
        }
    }

    /// A page; pages of one service, and of one table, follow each other.
    mutating func piece(_ page: ExportPage, of service: String) throws -> String {
        let isSame = self.service == service && self.table == page.table
        if !isSame { self.row = 0 }
        defer { (self.service, self.table) = (service, page.table) }
        switch self.form {
        case .json: return try self.json(page, of: service, goesOn: isSame)
        case .csv: return try self.csv(page, of: service)
        }
    }

    /// What comes behind all pages.
    var end: String {
        switch self.form {
        case .json: self.table == nil ? "}}\n" : "]}}}}\n"
        case .csv: ""
        }
    }

    private func json(_ page: ExportPage, of service: String, goesOn: Bool) throws -> String {
        let rows = try page.rows.map(Self.text).joined(separator: ",")
        if goesOn { return "," + rows }
        let opening = try #""\#(page.table)":{"left_out":\#(Self.text(page.leftOut)),"rows":["#
        guard let before = self.service else { return #""\#(service)":{"# + opening + rows }
        let between = before == service ? "]}," : #"]}},"\#(service)":{"#
        return between + opening + rows
    }

    private mutating func csv(_ page: ExportPage, of service: String) throws -> String {
        var text = ""
        for row in page.rows {
            self.row += 1
            for (field, value) in (row.members ?? [:]).sorted(by: { $0.key < $1.key }) {
                text += CSV.line([service, page.table, String(self.row), field, try Self.cell(value)])
            }
        }
        return text
    }

    private static func cell(_ value: JSONValue) throws -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        case .bool, .integer, .number, .array, .object: try Self.text(value)
        }
    }

    private static func text(_ value: some Encodable) throws -> String {
        String(decoding: try APIResponse.encoder().encode(value), as: UTF8.self)
    }
}
