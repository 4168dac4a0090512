/// What a setting is to an attacker, and so what production demands of it.
///
/// A number, a flag, a word or a rate is of no class: there is nothing to find in it, and its kind says what is right. Every
/// other setting has one; without one a service does not start in production.
public enum SettingClass: Sendable, Hashable {
    /// Random bytes of ours: base64, `id:` or `whsec_` before it, or a private key in PEM; several separated by commas.
    case key
    /// A text of ours that opens something; several separated by commas. It is no other secret of the service, unless
    /// that one is named.
    case token(characters: Int = 32, mayEqual: String? = nil)
    /// A secret that somebody else made for us.
    case given(characters: Int)
    /// `name:SHA-256 of a token`, separated by commas.
    case digests
    /// The address of a server of ours, with a password in it: Postgres, RabbitMQ, Redis.
    case server
    /// The address of another process in our own network, where a wire may be plain.
    case peer
    /// The address of somebody outside, or our own as people know it.
    case address
    /// Addresses of whom a session token may be for, separated by commas; at least one.
    case parties
    /// Where files are kept: a folder or a bucket.
    case store
    /// For the sandbox alone.
    case sandbox
    /// What is neither secret nor leads anywhere: names, ids, folders, lengths.
    case plain

    /// What production asks for, as the documentation says it; nil for nothing.
    public var demand: String? {
        switch self {
        case .key: "random bytes, of no other key"
        case .token(let characters, let other):
            "\(characters) random characters or more, of no other secret"
                + (other.map { " but \($0)" } ?? "")
        case .given(let characters): characters > 1 ? "\(characters) characters or more" : "no example"
        case .digests: "no example"
        case .server:
            "TLS that knows the server, and a password of 16 random characters or more, unless it is this machine"
        case .peer: "https, unless it is in our own network"
        case .address: "https, and no sandbox"
        case .parties: "at least one, each https and no sandbox"
        case .store: "https to the bucket"
        case .sandbox: "not set"
        case .plain: nil
        }
    }
}
