import CCurl
import EventLoops

typealias CallOutcome = Result<HTTPAnswer, HTTPFailure>
typealias CurlHandle = UnsafeMutableRawPointer

/// One request on its way: what the callbacks of libcurl refer to.
///
/// Sendable: whatever changes is touched on the loop's thread alone.
final class Transfer: @unchecked Sendable {
    /// The most bytes of all heads of an answer.
    static let longestHead = 256 * 1024

    let call: HTTPCall
    let host: String
    let deadline: ContinuousClock.Instant
    var handover: Handover<CallOutcome>?
    /// Where it is under way; nil before and afterwards.
    var easy: CurlHandle?
    var timer: TimerID?
    var isFinished = false
    /// Whether a connection stood and libcurl was about to write to it.
    private(set) var mayHaveBeenSent = false
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var head = AnswerHead()
    private var body: [UInt8] = []
    private var isTooLong = false

    init(_ call: HTTPCall, deadline: ContinuousClock.Instant) {
        self.call = call
        self.host = call.host
        self.deadline = deadline
    }

    /// The transfer that a callback is about; libcurl knows it no longer than its handle is in the multi handle.
    static func of(_ raw: UnsafeMutableRawPointer?) -> Transfer {
        guard let raw else { preconditionFailure("a handle of libcurl without its transfer") }
        return Unmanaged<Transfer>.fromOpaque(raw).takeUnretainedValue()
    }

    // MARK: Callbacks

    /// Called when a connection stands and nothing was written: a second time means that libcurl would send it again.
    func beforeSending() -> CInt {
        if self.mayHaveBeenSent { return CURL_PREREQFUNC_ABORT }
        self.mayHaveBeenSent = true
        return CURL_PREREQFUNC_OK
    }

    func takeHead(_ line: UnsafeRawBufferPointer) -> Int {
        guard self.head.take(line) else { return self.refuse() }
        return line.count
    }

    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard self.body.count + bytes.count <= self.call.longestAnswer else { return self.refuse() }
        self.body.append(contentsOf: bytes)
        return bytes.count
    }

    /// Another count than there was ends the transfer.
    private func refuse() -> Int {
        self.isTooLong = true
        return -1
    }

    // MARK: Options

    /// Sets what differs between calls; false when a header cannot be sent.
    func prepare(_ easy: CurlHandle) -> Bool {
        self.easy = easy
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_PREREQDATA] {
            transfa_set_pointer(easy, option, context)
        }
        transfa_set_text(easy, CURLOPT_URL, self.call.url)
        transfa_set_long(easy, CURLOPT_FORBID_REUSE, self.call.endsConnection ? 1 : 0)
        self.setBody(easy)
        transfa_set_text(easy, CURLOPT_CUSTOMREQUEST, self.call.method.rawValue)
        if self.call.endsConnection { self.append("Connection: close") }
        for (name, value) in self.call.headers {
            guard Self.isName(name), Self.isValue(value) else { return false }
            // A semicolon is how libcurl is told of a header without a value.
            self.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        transfa_set_pointer(easy, CURLOPT_HTTPHEADER, self.headerList)
        return true
    }

    private func setBody(_ easy: CurlHandle) {
        guard self.call.body != nil || self.call.method.namesLength else {
            transfa_set_long(easy, CURLOPT_HTTPGET, 1)
            if self.call.method == .head { transfa_set_long(easy, CURLOPT_NOBODY, 1) }
            return
        }
        // Otherwise libcurl waits a second for "100 Continue" before a long body, and has a content type of its own.
        self.append("Expect:")
        if !self.call.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            self.append("Content-Type:")
        }
        let body = self.call.body ?? []
        transfa_set_long(easy, CURLOPT_POSTFIELDSIZE, body.count)
        // Copied: the pointer of an array holds only during a call. Never null, which would mean something else.
        body.withUnsafeBytes { bytes in
            withUnsafePointer(to: 0 as UInt8) { nothing in
                _ = transfa_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress ?? UnsafeRawPointer(nothing))
            }
        }
    }

    private func append(_ line: String) { self.headerList = curl_slist_append(self.headerList, line) }

    /// A token (RFC 9110, 5.6.2).
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// No line break or other control character: what comes after one would be another header.
    private static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    // MARK: The end

    /// Lets go of what libcurl was lent, when its handle is out of the multi handle.
    func letGo(_ easy: CurlHandle) {
        transfa_set_pointer(easy, CURLOPT_HTTPHEADER, nil)
        // The copy of a body: it may be long, and somebody's.
        transfa_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, nil)
        curl_slist_free_all(self.headerList)
        self.headerList = nil
        self.easy = nil
    }

    func outcome(_ code: CURLcode) -> CallOutcome {
        // libcurl takes an answer that ends within its head for one without a body.
        guard code == CURLE_OK, self.head.isComplete else { return .failure(self.failure(self.reason(code))) }
        return .success(HTTPAnswer(status: self.head.status, headers: self.head.headers, body: self.body))
    }

    func failure(_ reason: HTTPFailure.Reason) -> HTTPFailure {
        var failure = HTTPFailure(reason: reason, isUnsent: !self.mayHaveBeenSent)
        if self.head.isComplete {
            let answer = HTTPAnswer(status: self.head.status, headers: self.head.headers, body: [])
            (failure.status, failure.retryAfter) = (answer.status, answer.retryAfter)
        }
        return failure
    }

    private func reason(_ code: CURLcode) -> HTTPFailure.Reason {
        switch code {
        case _ where self.isTooLong: .answerTooLong
        // After a kept connection that turned out to be dead, nothing can be said.
        case _ where self.mayHaveBeenSent: .broken
        // Time that is over is that of a connection: the limit of a call is the driver's.
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT: .unreachable
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: .untrusted
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT: .malformed
        default: .broken
        }
    }
}
