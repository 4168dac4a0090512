import CLibSSL
import Glibc

/// What all TLS connections of a client have in common: whom they trust, and who they are.
///
/// Sendable: written once before it is given away, and libssl locks what it counts.
final class TLSContext: @unchecked Sendable {
    fileprivate let context: OpaquePointer

    /// Reads the files; TLS 1.2 and 1.3, and a server must have a certificate of its name.
    ///
    /// - Parameter files: PEM; without a file of authorities those of the system are trusted.
    /// - Throws: `RedisError` with `misconfigured`, which names the file's setting.
    init(_ files: RedisConfiguration.TLSFiles) throws(RedisError) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.wrong("libssl has no memory") }
        self.context = context
        _ = transfa_tls_oldest_is_1_2(context)
        _ = transfa_tls_writes_in_parts(context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        // A PEM under a password is refused; without this, the terminal would be asked.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        if let authorities = files.authorities {
            guard SSL_CTX_load_verify_locations(context, authorities, nil) == 1 else {
                throw Self.wrong("the file of authorities cannot be read", .authorities)
            }
        } else {
            guard SSL_CTX_set_default_verify_paths(context) == 1 else {
                throw Self.wrong("the system has no authorities that are trusted")
            }
        }
        guard let certificate = files.certificate, let key = files.key else { return }
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
            throw Self.wrong("the file of the certificate cannot be read", .certificate)
        }
        guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1, SSL_CTX_check_private_key(context) == 1
        else { throw Self.wrong("the file of the key cannot be read, or is not of the certificate", .key) }
    }

    deinit { SSL_CTX_free(self.context) }

    private static func wrong(_ text: String, _ file: RedisConfiguration.TLSFiles.Part? = nil) -> RedisError {
        ERR_clear_error()
        return RedisError(.misconfigured, text, reply: file?.rawValue)
    }
}

/// TLS on one connected socket that does not block.
///
/// Belongs to one thread.
final class TLSSession {
    /// How far a call came.
    enum Progress: Equatable {
        case done(Int)
        /// Nothing can be done before the socket can be read, or written.
        case waits(forWriting: Bool)
        case ended
    }

    private let session: OpaquePointer

    /// Begins as a client that wants a server of this name.
    ///
    /// - Throws: `RedisError` with `misconfigured` for a name that cannot be one.
    init(_ context: TLSContext, descriptor: CInt, name: String) throws(RedisError) {
        guard let session = SSL_new(context.context) else { throw RedisError(.lost, "libssl has no memory") }
        self.session = session
        SSL_set_fd(session, descriptor)
        SSL_set_connect_state(session)
        // A star stands for a whole label (RFC 6125, 6.4.3).
        SSL_set_hostflags(session, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        // A name may be an address, which certificates hold in another place and which is not asked for (RFC 6066, 3).
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name) == 1
        guard isAddress || (SSL_set1_host(session, name) == 1 && transfa_tls_ask_for(session, name) == 1) else {
            throw RedisError(.misconfigured, "the name of the server cannot be that of a certificate")
        }
    }

    deinit {
        ERR_clear_error()
        SSL_free(self.session)
    }

    /// Goes on shaking hands.
    func shakeHands() throws(RedisError) -> Progress { try self.result { SSL_do_handshake(self.session) } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(RedisError) -> Progress {
        try self.result { SSL_write(self.session, bytes.baseAddress, CInt(min(bytes.count, 1 << 20))) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(RedisError) -> Progress {
        try self.result { SSL_read(self.session, buffer.baseAddress, CInt(buffer.count)) }
    }

    private func result(_ call: () -> CInt) throws(RedisError) -> Progress {
        // An error that another session has left on this thread would be taken for this one's.
        ERR_clear_error()
        let count = call()
        guard count <= 0 else { return .done(Int(count)) }
        switch SSL_get_error(self.session, count) {
        case SSL_ERROR_WANT_READ: return .waits(forWriting: false)
        case SSL_ERROR_WANT_WRITE: return .waits(forWriting: true)
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL:
            throw RedisError(.lost, errno == 0 ? "the server closed the connection" : Self.system(errno))
        default: throw RedisError(.lost, "TLS failed: \(self.reason)")
        }
    }

    /// Of libssl, which quotes nothing of the peer.
    private var reason: String {
        let verified = SSL_get_verify_result(self.session)
        if verified != X509_V_OK, let text = X509_verify_cert_error_string(verified) { return String(cString: text) }
        let code = ERR_peek_last_error()
        return ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    }

    private static func system(_ number: CInt) -> String { String(cString: strerror(number)) }
}
