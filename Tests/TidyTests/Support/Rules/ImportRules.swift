extension Rule {
    /// The layers of the shared modules: a module imports only what lies lower.
    private static let layers: [String: Int] = [
        "CLinux": 0, "CLibPQ": 0, "CRabbitMQ": 0, "CHiredis": 0, "CHaru": 0, "CQRencode": 0,
        "CZlib": 0, "COpenSSL": 0, "CCurl": 0,
        "EventLoops": 1, "Cryptography": 1, "ImageFiles": 1,
        "Primitives": 2, "Postgres": 2, "AMQP": 2, "Redis": 2, "Documents": 2, "QRCode": 2,
        "OutgoingHTTP": 2,
        "Contracts": 3,
        "Messaging": 4,
        "ContractGate": 5, "Sealing": 5, "AnchorClient": 5, "ObjectStorage": 5,
        "ServiceKit": 6,
        // Above all others, so that nothing that ships imports it.
        "DevSuite": 7,
    ]

    /// The one module that may import each C library.
    private static let wrappers = [
        "CLinux": "EventLoops", "CLibPQ": "Postgres", "CRabbitMQ": "AMQP", "CHiredis": "Redis",
        "CHaru": "Documents", "CQRencode": "QRCode", "CZlib": "ImageFiles", "COpenSSL": "Cryptography",
        "CCurl": "OutgoingHTTP",
    ]

    /// What a folder of a service may not know of.
    private static let strangers: [String: Set<String>] = [
        "Domain": [
            "Hummingbird", "HummingbirdHTTP2", "HTTPTypes", "NIOCore", "OutgoingHTTP", "Postgres", "Redis", "AMQP",
            "Messaging", "ServiceKit",
        ],
        "Application": [
            "Hummingbird", "HummingbirdHTTP2", "HTTPTypes", "NIOCore", "OutgoingHTTP", "Postgres", "Redis", "AMQP",
        ],
        "HTTP": ["Postgres", "Redis", "AMQP"],
        "Messaging": ["Redis", "AMQP", "Hummingbird"],
    ]

    static let layeredImports = Rule(name: "shared modules import only lower layers") { tree in
        tree.swiftFiles.filter { $0.isBelow("Shared") }.flatMap { file in
            let module = file.folders[1]
            guard let own = layers[module] else { return [file.violation(1, "\(module) has no layer")] }
            return imports(of: file).filter { (layers[$0.module] ?? -1) >= own && $0.module != module }.map {
                file.violation($0.line, "\(module) (layer \(own)) imports \($0.module) of the same or a higher layer")
            }
        }
    }

    static let oneWrapperPerLibrary = Rule(name: "each C module has exactly one importer") { tree in
        tree.swiftFiles.flatMap { file in
            imports(of: file).compactMap { found in
                guard let wrapper = wrappers[found.module], !file.isBelow("Shared/\(wrapper)") else { return nil }
                return file.violation(found.line, "only \(wrapper) may import \(found.module)")
            }
        }
    }

    static let servicesApart = Rule(name: "no service imports another") { tree in
        tree.swiftFiles.filter { $0.isBelow("Services") }.flatMap { file in
            imports(of: file)
                .filter { $0.module.hasSuffix("Service") && $0.module != "\(file.folders[1])Service" }
                .map { file.violation($0.line, "\(file.folders[1]) imports \($0.module)") }
        }
    }

    static let suitesStayOutside = Rule(name: "only transfactl and tests import DevSuite") { tree in
        tree.swiftFiles.filter { $0.isBelow("Services") && !$0.isBelow("Services/Transfactl") }.flatMap { file in
            imports(of: file).filter { $0.module == "DevSuite" }.map {
                file.violation($0.line, "\(file.folders[1]) imports DevSuite")
            }
        }
    }

    static let foldersKeepTheirPlace = Rule(name: "domain, application, HTTP and messaging import no clients") { tree in
        tree.swiftFiles.filter { $0.isBelow("Services") && $0.folders.count > 2 }.flatMap { file in
            let forbidden = strangers[file.folders[2]] ?? []
            return imports(of: file).filter { forbidden.contains($0.module) }.map {
                file.violation($0.line, "\(file.folders[2]) may not import \($0.module)")
            }
        }
    }

    static let storageOwnsClients = Rule(name: "in a service only storage and the composition root import clients") {
        tree in
        tree.swiftFiles.filter { $0.isBelow("Services") && !$0.isBelow("Services/Transfactl") }.flatMap { file in
            let isRoot = file.folders.count == 2 || file.name.contains("+build")
            let isStorage = file.folders.count > 2 && file.folders[2] == "Storage"
            // Handlers and jobs run inside the transaction of a batch, so they see its type.
            let allowed: Set<String> = file.folders.count > 2 && file.folders[2] == "Messaging" ? ["Postgres"] : []
            guard !isRoot && !isStorage else { return [Violation]() }
            return imports(of: file)
                .filter { ["Postgres", "Redis", "AMQP"].contains($0.module) && !allowed.contains($0.module) }
                .map { file.violation($0.line, "\($0.module) is imported outside Storage") }
        }
    }

    private static func imports(of file: SourceFile) -> [(line: Int, module: String)] {
        let pattern =
            #"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"#
            + #"import\s+(?:(?:struct|class|enum|func|protocol|typealias|var|let)\s+)?(\w+)"#
        return SwiftText.matches(pattern, in: file.code).map { ($0.line, $0.groups[1]) }
    }
}
