#pragma once
#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>

static inline amqp_table_entry_t transfa_amqp_flag(const char *name) {
  amqp_table_entry_t entry;
  entry.key = amqp_cstring_bytes(name);
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = 1;
  return entry;
}

static inline amqp_table_entry_t transfa_amqp_text(const char *name, const char *text) {
  amqp_table_entry_t entry;
  entry.key = amqp_cstring_bytes(name);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_cstring_bytes(text);
  return entry;
}

/// Logs in with every capability this client understands. The library's own login is variadic, so Swift cannot call it,
/// and it leaves out the capabilities without which a deleted queue or a broker alarm goes unnoticed.
static inline amqp_rpc_reply_t transfa_amqp_login(
    amqp_connection_state_t state, const char *vhost, int frame_max, int heartbeat,
    const char *connection_name, const char *user, const char *password) {
  amqp_table_entry_t capabilities[6];
  amqp_table_entry_t properties[3];
  amqp_table_t table;
  capabilities[0] = transfa_amqp_flag("publisher_confirms");
  capabilities[1] = transfa_amqp_flag("consumer_cancel_notify");
  capabilities[2] = transfa_amqp_flag("connection.blocked");
  capabilities[3] = transfa_amqp_flag("basic.nack");
  capabilities[4] = transfa_amqp_flag("authentication_failure_close");
  capabilities[5] = transfa_amqp_flag("exchange_exchange_bindings");
  properties[0] = transfa_amqp_text("product", "transfa");
  properties[1] = transfa_amqp_text("connection_name", connection_name);
  properties[2].key = amqp_cstring_bytes("capabilities");
  properties[2].value.kind = AMQP_FIELD_KIND_TABLE;
  properties[2].value.value.table.num_entries = 6;
  properties[2].value.value.table.entries = capabilities;
  table.num_entries = 3;
  table.entries = properties;
  return amqp_login_with_properties(state, vhost, 0, frame_max, heartbeat, &table,
                                    AMQP_SASL_METHOD_PLAIN, user, password);
}
