#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* curl_easy_setopt and its kin are variadic, and macros besides, so Swift cannot call them: one function per kind of value. */
static inline CURLcode transfa_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode transfa_set_text(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode transfa_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return (curl_easy_setopt)(easy, option, value);
}

/* The socket of the connection that a transfer has left open; CURL_SOCKET_BAD when it has left none. */
static inline curl_socket_t transfa_kept_socket(CURL *easy) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    (curl_easy_getinfo)(easy, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}

static inline CURLMcode transfa_multi_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}
static inline CURLMcode transfa_multi_pointer(CURLM *multi, CURLMoption option, void *value) {
    return (curl_multi_setopt)(multi, option, value);
}

typedef size_t (*transfa_bytes)(char *bytes, size_t size, size_t count, void *context);
typedef int (*transfa_before_request)(void *context, char *remote, char *local, int remote_port, int local_port);
typedef int (*transfa_opened)(void *context, curl_socket_t socket, curlsocktype purpose);
typedef int (*transfa_closing)(void *context, curl_socket_t socket);
typedef int (*transfa_wanted)(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context);
typedef int (*transfa_timer)(CURLM *multi, long milliseconds, void *context);

static inline CURLcode transfa_on_body(CURL *easy, transfa_bytes function) {
    return (curl_easy_setopt)(easy, CURLOPT_WRITEFUNCTION, function);
}
static inline CURLcode transfa_on_head(CURL *easy, transfa_bytes function) {
    return (curl_easy_setopt)(easy, CURLOPT_HEADERFUNCTION, function);
}
static inline CURLcode transfa_before_sending(CURL *easy, transfa_before_request function) {
    return (curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, function);
}
static inline CURLcode transfa_on_open(CURL *easy, transfa_opened function) {
    return (curl_easy_setopt)(easy, CURLOPT_SOCKOPTFUNCTION, function);
}
static inline CURLcode transfa_on_close(CURL *easy, transfa_closing function) {
    return (curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
}
static inline CURLMcode transfa_on_wait(CURLM *multi, transfa_wanted function) {
    return (curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, function);
}
static inline CURLMcode transfa_on_timer(CURLM *multi, transfa_timer function) {
    return (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, function);
}

/* A member of a union. */
static inline CURLcode transfa_result(const CURLMsg *message) { return message->data.result; }

/* A connection whose peer acknowledges nothing for so long is dead, whatever else it waits for. */
static inline void transfa_bound_silence(int socket, unsigned int milliseconds) {
    setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
}

/* Reads away what a kept connection has got, and ends it: what looks at it next finds its end. */
static inline void transfa_end_connection(int socket) {
    char bytes[4096];
    /* A peer that sends without end would hold up the thread. */
    for (int round = 0; round < 64 && recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT) > 0; round++) {}
    shutdown(socket, SHUT_RDWR);
}
