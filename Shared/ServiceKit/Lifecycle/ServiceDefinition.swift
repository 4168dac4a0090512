import Foundation
public import Postgres

/// A service as its executable and its tests see it: a name, what it needs, its schema, and how it is wired.
public struct ServiceDefinition: Sendable {
    /// The name: `account`.
    public let name: String
    /// Which settings are read and which clients are made.
    public let needs: ServiceSettings.Needs
    /// The service's own documented settings.
    public let keys: [SettingKey]
    /// The tables and functions of its database in their order: messaging's, the service's own, the audit's.
    public let schema: @Sendable () throws -> [SchemaSet]
    /// The composition root.
    public let build: @Sendable (ServiceHost) async throws -> ServiceParts

    /// All documented settings, those that services share first.
    public var settings: [SettingKey] { ServiceSettings.keys(for: self.needs) + self.keys }

    /// Describes a service.
    ///
    /// The name is lower case and also names the roles `<name>_owner`, `<name>_handler`, `<name>_worker`. `build` wires
    /// the parts; it throws `ConfigurationProblem` for settings of its own.
    public init(
        name: String,
        needs: ServiceSettings.Needs,
        keys: [SettingKey] = [],
        schema: @escaping @Sendable () throws -> [SchemaSet] = { [] },
        build: @escaping @Sendable (ServiceHost) async throws -> ServiceParts
    ) {
        self.name = name
        self.needs = needs
        self.keys = keys
        self.schema = schema
        self.build = build
    }
}
