#pragma once
#include <dlfcn.h>
#include <libpq-fe.h>

/// Bytes that the TLS layer has decrypted and libpq has not read yet: no poll on the socket tells of them.
/// libpq has loaded OpenSSL already, so the function is looked up instead of linked.
static inline int transfa_tls_pending(PGconn *connection) {
    typedef int (*pending_function)(const void *);
    static pending_function pending = 0;
    if (!PQsslInUse(connection)) return 0;
    const void *session = PQsslStruct(connection, "OpenSSL");
    if (!session) return 0;
    if (!pending) pending = (pending_function)dlsym(0, "SSL_pending");
    return pending ? pending(session) : 0;
}

/// The default receiver prints the server's notices, which may hold row values, to standard error.
static inline void transfa_ignore_notice(void *context, const PGresult *result) { (void)context; (void)result; }
static inline void transfa_silence_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, transfa_ignore_notice, 0);
}
