/// What the server's catalogue knows of functions and procedures in the schema in which the tables are.
///
/// A signature is a name with the types of the arguments that go in: `pay(uuid, bigint)`.
struct FunctionCatalog {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }

    /// What was made in this session's schema of temporary tables.
    func temporary() async throws(PostgresError) -> [String] {
        try await self.texts(
            """
            SELECT quote_ident(p.proname) || '(' || oidvectortypes(p.proargtypes) || ')' FROM pg_proc p
            WHERE p.pronamespace = pg_my_temp_schema() ORDER BY 1
            """
        )
    }

    /// Drops those of the functions that exist, all at once, so that they may need each other.
    ///
    /// - Returns: How many there were.
    @discardableResult
    func drop(_ signatures: [String]) async throws(PostgresError) -> Int {
        let names = try await self.texts(
            """
            SELECT p.oid::regprocedure::text FROM pg_proc p
            WHERE p.pronamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = current_schema())
                AND quote_ident(p.proname) || '(' || oidvectortypes(p.proargtypes) || ')' = ANY (\(signatures))
            ORDER BY 1
            """
        )
        if !names.isEmpty { try await self.connection.simple("DROP ROUTINE " + names.joined(separator: ", ")) }
        return names.count
    }

    /// Statements after which the functions have the rights of new ones.
    func rightsReset(of signatures: [String]) async throws(PostgresError) -> [String] {
        try await self.texts(
            """
            WITH changed AS (
                SELECT p.oid::regprocedure::text AS routine, p.proowner, p.proacl FROM pg_proc p
                WHERE p.pronamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = current_schema())
                    AND quote_ident(p.proname) || '(' || oidvectortypes(p.proargtypes) || ')' = ANY (\(signatures))
                    AND p.proacl IS NOT NULL)
            SELECT format('REVOKE ALL ON ROUTINE %s FROM %s', c.routine,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
            FROM changed c, aclexplode(c.proacl) a WHERE a.grantee <> c.proowner
            UNION ALL
            SELECT format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', c.routine) FROM changed c
            WHERE EXISTS (
                SELECT FROM aclexplode(coalesce(
                    (SELECT d.defaclacl FROM pg_default_acl d
                        WHERE d.defaclrole = c.proowner AND d.defaclobjtype = 'f' AND d.defaclnamespace = 0),
                    acldefault('f', c.proowner))) a
                WHERE a.grantee = 0)
            ORDER BY 1 DESC
            """
        )
    }

    /// A statement per function that fails when its body has an error.
    func checks(of signatures: [String]) async throws(PostgresError) -> [(signature: String, call: String)] {
        let rows = try await self.connection.query(
            """
            SELECT f.signature, format('SELECT %s(%s)', l.lanvalidator::regproc, f.oid)
            FROM (SELECT p.oid, p.prolang, quote_ident(p.proname) || '(' || oidvectortypes(p.proargtypes) || ')' AS signature
                FROM pg_proc p
                WHERE p.pronamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = current_schema())) f
            JOIN pg_language l ON l.oid = f.prolang
            WHERE f.signature = ANY (\(signatures)) AND l.lanvalidator <> 0 ORDER BY 1
            """
        )
        var found: [(String, String)] = []
        for row in rows { found.append(try row.decode(String.self, String.self)) }
        return found
    }

    private func texts(_ sql: SQL) async throws(PostgresError) -> [String] {
        var found: [String] = []
        for row in try await self.connection.query(sql) { found.append(try row.decode(String.self)) }
        return found
    }
}
