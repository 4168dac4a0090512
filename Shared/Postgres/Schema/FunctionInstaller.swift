/// Puts the functions of one set into a database, in a transaction that somebody else begins and ends.
struct FunctionInstaller {
    let set: String
    let scripts: [FunctionScript]
    let connection: PostgresConnection

    /// Makes or replaces all functions, begins their rights anew and checks their bodies.
    ///
    /// - Parameter had: The signatures that the set had before.
    /// - Returns: The signatures that it has now.
    /// - Throws: `MigrationError`; the transaction must be rolled back then.
    func install(over had: [String]) async throws(MigrationError) -> [String] {
        // Bodies may name functions that come later, so they are checked when all are there.
        try await self.run("SET LOCAL check_function_bodies = off", for: self.set)
        try await self.define(over: had)
        let signatures = try await self.signatures()
        let all = signatures.flatMap { $0 }
        try await self.resetRights(of: all)
        for script in self.scripts { try await self.run(script.rest, for: script.title) }
        try await self.run("SET LOCAL check_function_bodies = on", for: self.set)
        for (script, signatures) in zip(self.scripts, signatures) { try await self.check(signatures, of: script) }
        return all
    }

    // MARK: Definitions

    /// First drops only what cannot be replaced; when other functions of the set need that, all of them.
    private func define(over had: [String]) async throws(MigrationError) {
        try await self.run("SAVEPOINT before_functions", for: self.set)
        do throws(MigrationError) {
            for script in self.scripts {
                for definition in script.definitions { try await self.replace(definition, of: script) }
            }
        } catch {
            guard error.underlying?.sqlState == SQLState.dependentObjects else { throw error }
            try await self.run("ROLLBACK TO before_functions", for: self.set)
            do throws(PostgresError) {
                let made = try await self.probe(self.scripts.flatMap(\.definitions))
                try await FunctionCatalog(self.connection).drop(Array(Set(had + made)))
            } catch let failure {
                // The first error names what depends on which function.
                throw failure.sqlState == SQLState.dependentObjects
                    ? error : MigrationError(.functionsFailed, self.set, underlying: failure)
            }
            for script in self.scripts { try await self.run(script.definitions, for: script.title) }
        }
        try await self.run("RELEASE before_functions", for: self.set)
    }

    private func replace(_ definition: String, of script: FunctionScript) async throws(MigrationError) {
        do throws(PostgresError) {
            do throws(PostgresError) {
                try await self.connection.simple("SAVEPOINT definition;\n\(definition)\n;RELEASE definition")
            } catch {
                guard [SQLState.invalidFunction, SQLState.wrongObject].contains(error.sqlState) else { throw error }
                try await self.connection.simple("ROLLBACK TO definition")
                let signatures = try await self.probe([definition])
                guard try await FunctionCatalog(self.connection).drop(signatures) > 0 else { throw error }
                try await self.connection.simple("\(definition)\n;RELEASE definition")
            }
        } catch { throw MigrationError(.functionsFailed, script.title, underlying: error) }
    }

    // MARK: Signatures

    /// What each file makes, in the order of files.
    private func signatures() async throws(MigrationError) -> [[String]] {
        var found: [[String]] = []
        for script in self.scripts {
            let made: [String]
            do throws(PostgresError) { made = try await self.probe(script.definitions) } catch {
                throw MigrationError(.functionsFailed, script.title, underlying: error)
            }
            // A name with a schema goes elsewhere, and one that comes twice is there once.
            guard made.count == script.definitions.count, Set(made).isDisjoint(with: found.joined()) else {
                throw MigrationError(.duplicateFunction, script.title)
            }
            found.append(made)
        }
        return found
    }

    /// Which functions these definitions make: they are made in the schema of temporary tables, looked at and forgotten.
    private func probe(_ definitions: [String]) async throws(PostgresError) -> [String] {
        guard !definitions.isEmpty else { return [] }
        try await self.connection.simple("SAVEPOINT probe")
        _ = try await self.connection.query(
            "SELECT set_config('search_path', 'pg_temp, ' || current_setting('search_path'), true)"
        )
        for definition in definitions { try await self.connection.simple(definition) }
        let made = try await FunctionCatalog(self.connection).temporary()
        try await self.connection.simple("ROLLBACK TO probe; RELEASE probe")
        return made
    }

    // MARK: Rights and bodies

    private func resetRights(of signatures: [String]) async throws(MigrationError) {
        do throws(PostgresError) {
            for statement in try await FunctionCatalog(self.connection).rightsReset(of: signatures) {
                try await self.connection.simple(statement)
            }
        } catch { throw MigrationError(.functionsFailed, self.set, underlying: error) }
    }

    private func check(_ signatures: [String], of script: FunctionScript) async throws(MigrationError) {
        let subject: (String) -> String = { "\(script.title): \($0)" }
        var checked: [(signature: String, call: String)] = []
        do throws(PostgresError) { checked = try await FunctionCatalog(self.connection).checks(of: signatures) } catch {
            throw MigrationError(.functionsFailed, script.title, underlying: error)
        }
        for (signature, call) in checked { try await self.run(call, for: subject(signature)) }
    }

    // MARK: Running

    private func run(_ text: String, for subject: String) async throws(MigrationError) {
        do throws(PostgresError) { try await self.connection.simple(text) } catch {
            throw MigrationError(.functionsFailed, subject, underlying: error)
        }
    }

    private func run(_ statements: [String], for subject: String) async throws(MigrationError) {
        for statement in statements { try await self.run(statement, for: subject) }
    }
}

/// What the server says when a function cannot be replaced or dropped.
enum SQLState {
    /// Another result, or arguments with other names.
    static let invalidFunction = "42P13"
    /// A function has become a procedure, or the other way round.
    static let wrongObject = "42809"
    /// Something else needs it.
    static let dependentObjects = "2BP01"
}
