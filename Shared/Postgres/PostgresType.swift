/// A PostgreSQL data type by its object id.
public struct PostgresType: RawRepresentable, Hashable, Sendable {
    /// The object id in `pg_type`.
    public let rawValue: UInt32

    /// Names a type by its object id.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The server infers the type from the place where the value stands.
    public static let inferred = PostgresType(rawValue: 0)
    /// The type `boolean`.
    public static let bool = PostgresType(rawValue: 16)
    /// The type `bytea`.
    public static let bytes = PostgresType(rawValue: 17)
    /// The type `bigint`.
    public static let int8 = PostgresType(rawValue: 20)
    /// The type `smallint`.
    public static let int2 = PostgresType(rawValue: 21)
    /// The type `integer`.
    public static let int4 = PostgresType(rawValue: 23)
    /// The type `text`.
    public static let text = PostgresType(rawValue: 25)
    /// The type `json`.
    public static let json = PostgresType(rawValue: 114)
    /// The type `real`.
    public static let float4 = PostgresType(rawValue: 700)
    /// The type `double precision`.
    public static let float8 = PostgresType(rawValue: 701)
    /// The type `date`.
    public static let date = PostgresType(rawValue: 1_082)
    /// The type `timestamp`.
    public static let timestamp = PostgresType(rawValue: 1_114)
    /// The type `timestamptz`.
    public static let timestamptz = PostgresType(rawValue: 1_184)
    /// The type `numeric`.
    public static let numeric = PostgresType(rawValue: 1_700)
    /// The type `uuid`.
    public static let uuid = PostgresType(rawValue: 2_950)
    /// The type `jsonb`.
    public static let jsonb = PostgresType(rawValue: 3_802)

    /// Types whose binary form is not their text.
    static let binaryOnly: Set<PostgresType> = [
        .bool, .bytes, .int8, .int2, .int4, .float4, .float8, .date, .timestamp, .timestamptz, .numeric, .uuid,
        // oid, interval, time, timetz, inet, cidr, macaddr, money
        .init(rawValue: 26), .init(rawValue: 1_186), .init(rawValue: 1_083), .init(rawValue: 1_266),
        .init(rawValue: 869), .init(rawValue: 650), .init(rawValue: 829), .init(rawValue: 790),
    ]
}
