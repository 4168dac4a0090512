import CRabbitMQ
import Glibc

/// One connection with its one channel: owns the C handle, makes every library call, and is used by one thread only
/// (it is not Sendable, the actor that holds it is pinned to that thread).
final class Link {
    /// Each connection has one channel.
    static let channel: amqp_channel_t = 1
    private static let frameMax: CInt = 131_072

    let state: amqp_connection_state_t
    let callGuard: CallGuard
    /// Our duplicate of the socket's descriptor, for watching; see `CallGuard`.
    let descriptor: CInt
    /// What was agreed with the broker; zero is off.
    let heartbeat: Duration
    let arena = Arena()
    private var assembler = ContentAssembler()
    /// When the peer was last heard.
    ///
    /// The library looks for silence only in waits that have a timeout, ours have none.
    var lastHeard = ContinuousClock.now
    private let isSecure: Bool

    /// Takes over a handle that is logged in.
    fileprivate init(_ state: amqp_connection_state_t, descriptor: CInt, isSecure: Bool, _ callGuard: CallGuard) {
        self.state = state
        self.callGuard = callGuard
        self.descriptor = descriptor
        self.isSecure = isSecure
        self.heartbeat = .seconds(Int(amqp_get_heartbeat(state)))
    }

    deinit {
        amqp_destroy_connection(self.state)
        self.callGuard.close()
    }

    /// How many bytes properties and headers may take in their frame, with a margin for the fixed fields.
    var headerLimit: Int { Int(amqp_get_frame_max(self.state)) - 4_096 }

    // MARK: Events

    /// Whether `nextEvent` may find something without a new readiness of the descriptor.
    ///
    /// TLS keeps bytes in a buffer that we cannot see, so there the only sign is a read that finds nothing.
    var mayHaveMore: Bool {
        self.isSecure || amqp_data_in_buffer(self.state) != 0 || amqp_frames_enqueued(self.state) != 0
    }

    /// The next thing the broker told us, nil when nothing more has arrived.
    ///
    /// Never waits; sends heartbeats that are due.
    func nextEvent() throws(AMQPError) -> LinkEvent? {
        while true {
            amqp_maybe_release_buffers(self.state)
            var frame = amqp_frame_t()
            var zero = timeval()
            let status = self.callGuard.call { amqp_simple_wait_frame_noblock(self.state, &frame, &zero) }
            if status == AMQP_STATUS_TIMEOUT.rawValue { return nil }
            try self.check(status, "reading")
            if let event = try self.interpret(frame) { return event }
            if !self.mayHaveMore { return nil }
        }
    }

    private func interpret(_ frame: amqp_frame_t) throws(AMQPError) -> LinkEvent? {
        switch Int32(frame.frame_type) {
        case AMQP_FRAME_METHOD: return try self.interpret(frame.payload.method)
        case AMQP_FRAME_HEADER:
            var properties = Properties()
            if let decoded = frame.payload.properties.decoded {
                properties = Properties(decoded.assumingMemoryBound(to: amqp_basic_properties_t.self).pointee)
            }
            return try self.assembler.header(properties, bodySize: frame.payload.properties.body_size)
        case AMQP_FRAME_BODY:
            let fragment = frame.payload.body_fragment
            return try self.assembler.body(UnsafeRawBufferPointer(start: fragment.bytes, count: fragment.len))
        default: throw AMQPError(.protocolViolation, "frame of unknown type \(frame.frame_type)")
        }
    }

    private func interpret(_ method: amqp_method_t) throws(AMQPError) -> LinkEvent? {
        switch method.id {
        case AMQP_BASIC_ACK_METHOD:
            let ack = method.decoded.assumingMemoryBound(to: amqp_basic_ack_t.self).pointee
            return .ack(tag: ack.delivery_tag, multiple: ack.multiple != 0)
        case AMQP_BASIC_NACK_METHOD:
            let nack = method.decoded.assumingMemoryBound(to: amqp_basic_nack_t.self).pointee
            return .nack(tag: nack.delivery_tag, multiple: nack.multiple != 0)
        case AMQP_BASIC_DELIVER_METHOD:
            let deliver = method.decoded.assumingMemoryBound(to: amqp_basic_deliver_t.self).pointee
            try self.assembler.begin(
                .deliver(
                    tag: deliver.delivery_tag,
                    redelivered: deliver.redelivered != 0,
                    exchange: deliver.exchange.text,
                    routingKey: deliver.routing_key.text
                )
            )
            return nil
        case AMQP_BASIC_RETURN_METHOD:
            let back = method.decoded.assumingMemoryBound(to: amqp_basic_return_t.self).pointee
            let message = ReturnedMessage(
                code: back.reply_code,
                text: back.reply_text.text,
                exchange: back.exchange.text,
                routingKey: back.routing_key.text
            )
            try self.assembler.begin(.returned(message))
            return nil
        case AMQP_BASIC_CANCEL_METHOD: return .consumerCancelled
        case AMQP_CHANNEL_CLOSE_METHOD:
            self.assembler.reset()
            return .channelClosed(Self.channelError(method))
        case AMQP_CONNECTION_CLOSE_METHOD: return .connectionClosed(Self.connectionError(method))
        case AMQP_CONNECTION_BLOCKED_METHOD:
            let blocked = method.decoded.assumingMemoryBound(to: amqp_connection_blocked_t.self).pointee
            return .blocked(reason: blocked.reason.text)
        case AMQP_CONNECTION_UNBLOCKED_METHOD: return .unblocked
        default:
            let name = amqp_method_name(method.id).map { String(cString: $0) } ?? "0x\(String(method.id, radix: 16))"
            throw AMQPError(.protocolViolation, "unexpected method \(name)")
        }
    }

    /// The channel ended; a message that was half there will not be completed.
    func discardPartialMessage() { self.assembler.reset() }

    // MARK: Errors

    static func channelError(_ method: amqp_method_t) -> AMQPError {
        let close = method.decoded.assumingMemoryBound(to: amqp_channel_close_t.self).pointee
        return AMQPError(.channelClosed, close.reply_text.text, replyCode: close.reply_code)
    }

    static func connectionError(_ method: amqp_method_t) -> AMQPError {
        let close = method.decoded.assumingMemoryBound(to: amqp_connection_close_t.self).pointee
        return AMQPError(.connectionClosed, close.reply_text.text, replyCode: close.reply_code)
    }

    /// Throws unless a library call went well.
    func check(_ status: CInt, _ operation: String) throws(AMQPError) {
        guard status != AMQP_STATUS_OK.rawValue else { return }
        if self.callGuard.wasCut { throw AMQPError(.callStuck, "\(operation) took too long, the socket was shut down") }
        throw AMQPError(status: status, operation)
    }
}

extension AMQPError {
    /// An error of the library.
    init(status: CInt, _ operation: String, file: String = #fileID, line: UInt = #line) {
        let code: Code
        switch status {
        case AMQP_STATUS_HEARTBEAT_TIMEOUT.rawValue: code = .heartbeatMissed
        case AMQP_STATUS_TIMEOUT.rawValue: code = .timedOut
        case AMQP_STATUS_SSL_ERROR.rawValue, AMQP_STATUS_SSL_CONNECTION_FAILED.rawValue,
            AMQP_STATUS_SSL_PEER_VERIFY_FAILED.rawValue, AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED.rawValue:
            code = .tlsFailed
        case AMQP_STATUS_BAD_AMQP_DATA.rawValue, AMQP_STATUS_UNEXPECTED_STATE.rawValue,
            AMQP_STATUS_UNKNOWN_METHOD.rawValue, AMQP_STATUS_UNKNOWN_CLASS.rawValue:
            code = .protocolViolation
        default: code = .connectionClosed
        }
        let text = amqp_error_string2(status).map { String(cString: $0) } ?? "status \(status)"
        self.init(code, "\(operation): \(text)", file: file, line: line)
    }
}

extension Link {
    /// Connects and logs in.
    ///
    /// Blocks the thread, for at most the configured times (and as long as the resolver takes).
    static func open(
        _ host: AMQPConfiguration.Host,
        _ configuration: AMQPConfiguration,
        name: String,
        _ callGuard: CallGuard
    ) throws(AMQPError) -> Link {
        guard let state = amqp_new_connection() else { throw AMQPError(.connectFailed, "no memory for a connection") }
        do throws(AMQPError) {
            try Self.openSocket(state, host, configuration)
            let descriptor = callGuard.open(amqp_get_sockfd(state))
            guard descriptor >= 0 else { throw AMQPError(.connectFailed, "no file descriptor left") }
            try Self.logIn(state, configuration, name: name, callGuard)
            return Link(state, descriptor: descriptor, isSecure: configuration.tls != nil, callGuard)
        } catch {
            amqp_destroy_connection(state)
            callGuard.close()
            throw error
        }
    }

    private static func openSocket(
        _ state: amqp_connection_state_t,
        _ host: AMQPConfiguration.Host,
        _ configuration: AMQPConfiguration
    ) throws(AMQPError) {
        let socket: OpaquePointer?
        if let tls = configuration.tls {
            socket = try Self.secureSocket(state, tls)
        } else {
            socket = amqp_tcp_socket_new(state)
        }
        guard let socket else { throw AMQPError(.connectFailed, "no memory for a socket") }
        var timeout = timeval(configuration.connectTimeout)
        let status = amqp_socket_open_noblock(socket, host.name, CInt(host.port), &timeout)
        guard status != AMQP_STATUS_OK.rawValue else { return }
        let error = AMQPError(status: status, "connecting to \(host.name):\(host.port)")
        throw error.code == .tlsFailed ? error : AMQPError(.connectFailed, error.message)
    }

    private static func secureSocket(
        _ state: amqp_connection_state_t,
        _ tls: AMQPConfiguration.TLS
    ) throws(AMQPError) -> OpaquePointer? {
        guard let socket = amqp_ssl_socket_new(state) else { return nil }
        // Said in so many words: this version's defaults for the oldest TLS and for the host's name are not ours.
        amqp_ssl_socket_set_verify_peer(socket, 1)
        amqp_ssl_socket_set_verify_hostname(socket, 1)
        guard amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST) == AMQP_STATUS_OK.rawValue else {
            throw AMQPError(.tlsFailed, "TLS 1.2 is not available")
        }
        guard amqp_ssl_socket_set_cacert(socket, tls.authoritiesFile) == AMQP_STATUS_OK.rawValue else {
            throw AMQPError(.tlsFailed, "cannot read authorities from \(tls.authoritiesFile)")
        }
        guard let certificate = tls.certificateFile else { return socket }
        guard amqp_ssl_socket_set_key(socket, certificate, tls.keyFile ?? certificate) == AMQP_STATUS_OK.rawValue else {
            throw AMQPError(.tlsFailed, "cannot read the certificate \(certificate) or its key")
        }
        return socket
    }

    private static func logIn(
        _ state: amqp_connection_state_t,
        _ configuration: AMQPConfiguration,
        name: String,
        _ callGuard: CallGuard
    ) throws(AMQPError) {
        var timeout = timeval(configuration.requestTimeout)
        amqp_set_handshake_timeout(state, &timeout)
        amqp_set_rpc_timeout(state, &timeout)
        let reply = callGuard.call {
            transfa_amqp_login(
                state,
                configuration.virtualHost,
                Self.frameMax,
                CInt(configuration.heartbeat / .seconds(1)),
                name,
                configuration.user,
                configuration.password
            )
        }
        do throws(AMQPError) {
            try Self.check(reply, "logging in")
        } catch {
            // A refused virtual host (530), user or password (403) is an answer, everything else is weather.
            guard let code = error.replyCode else { throw error }
            throw AMQPError(.loginRefused, error.message, replyCode: code)
        }
    }

    /// Throws unless the broker's answer to a request was the expected one.
    static func check(_ reply: amqp_rpc_reply_t, _ operation: String) throws(AMQPError) {
        switch reply.reply_type {
        case AMQP_RESPONSE_NORMAL: return
        case AMQP_RESPONSE_LIBRARY_EXCEPTION: throw AMQPError(status: reply.library_error, operation)
        case AMQP_RESPONSE_SERVER_EXCEPTION where reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD:
            throw Self.channelError(reply.reply)
        case AMQP_RESPONSE_SERVER_EXCEPTION where reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD:
            throw Self.connectionError(reply.reply)
        default: throw AMQPError(.connectionClosed, "\(operation): end of the connection")
        }
    }
}

extension timeval {
    init(_ duration: Duration) {
        let microseconds = Int(duration / .microseconds(1))
        self.init(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
    }
}
