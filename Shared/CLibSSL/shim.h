#pragma once
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline long transfa_tls_oldest_is_1_2(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/* What is left of a write may be sent later and from elsewhere. */
static inline long transfa_tls_writes_in_parts(SSL_CTX *context) {
    return SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

static inline long transfa_tls_ask_for(SSL *session, const char *name) { return SSL_set_tlsext_host_name(session, name); }
