import DevSuite

/// A ground that nothing is started on.
enum Ground {
    static func made(
        _ choices: SuiteChoices = SuiteChoices(),
        reference: String? = nil,
        brokerUsers: String? = nil
    ) -> SuiteGround {
        let names = SuiteGround.portNames(choices)
        let server = "postgres://postgres:secret@h:1/postgres?sslmode=disable"
        let databases = SuiteGround.services.map { service in
            (service, SuiteDatabase(service: service, serverURL: server) { _ in "pw" })
        }
        return SuiteGround(
            binaries: "/built",
            deploy: "/deploy",
            files: "/files",
            logs: "/logs",
            ports: Dictionary(uniqueKeysWithValues: zip(names, 100...)),
            secrets: .made(),
            servers: SuiteServers(
                postgres: server,
                rabbitmq: "amqp://admin:pw@b:5/%2F",
                management: "http://admin:pw@b:6",
                redis: "redis://r",
                brokerUsers: brokerUsers
            ),
            databases: Dictionary(uniqueKeysWithValues: databases),
            choices: choices,
            reference: reference
        )
    }
}
