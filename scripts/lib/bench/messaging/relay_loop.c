// The reference for the relay: publishes the messages of a file to an exchange with confirms, a window of them
// unconfirmed, and prints how many a second were confirmed. Only librabbitmq, one thread, no allocation per message.
//
// usage: RELAY_LOOP_URL=amqp://... relay_loop <exchange> <window> <file>

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { CHANNEL = 1, FIELDS = 9, FRAME_MAX = 131072 };
enum { ROUTING_KEY, ID, TYPE, SOURCE, SUBJECT, SEQUENCE, CORRELATION, TIME, BODY };

typedef struct {
  char *fields[FIELDS];
} message_t;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "relay_loop: %s: %s\n", what, why);
  exit(1);
}

static void check(int status, const char *what) {
  if (status != AMQP_STATUS_OK) fail(what, amqp_error_string2(status));
}

static void check_reply(amqp_rpc_reply_t reply, const char *what) {
  if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail(what, "the broker refused");
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static message_t *read_messages(const char *path, size_t *count) {
  FILE *file = fopen(path, "r");
  if (!file) fail(path, "cannot be read");
  message_t *messages = NULL;
  size_t room = 0;
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  *count = 0;
  while ((length = getline(&line, &size, file)) > 0) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    if (*count == room) {
      room = room ? room * 2 : 1024;
      messages = realloc(messages, room * sizeof *messages);
      if (!messages) fail(path, "no memory");
    }
    char *rest = strdup(line);
    for (int field = 0; field < FIELDS; field++) {
      messages[*count].fields[field] = strsep(&rest, "\t");
      if (!messages[*count].fields[field]) fail(path, "a line has too few fields");
    }
    ++*count;
  }
  free(line);
  fclose(file);
  return messages;
}

static amqp_connection_state_t log_in(char *url) {
  struct amqp_connection_info info;
  amqp_default_connection_info(&info);
  check(amqp_parse_url(url, &info), "reading the URL");
  amqp_connection_state_t state = amqp_new_connection();
  amqp_socket_t *socket = amqp_tcp_socket_new(state);
  if (!socket) fail("connecting", "no memory");
  check(amqp_socket_open(socket, info.host, info.port), "connecting");
  check_reply(amqp_login(state, info.vhost, 0, FRAME_MAX, 0, AMQP_SASL_METHOD_PLAIN, info.user, info.password),
              "logging in");
  amqp_channel_open(state, CHANNEL);
  check_reply(amqp_get_rpc_reply(state), "opening the channel");
  amqp_confirm_select(state, CHANNEL);
  check_reply(amqp_get_rpc_reply(state), "selecting confirms");
  return state;
}

static amqp_table_entry_t text(const char *key, const char *value) {
  amqp_table_entry_t entry;
  entry.key = amqp_cstring_bytes(key);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_cstring_bytes(value);
  return entry;
}

static void publish(amqp_connection_state_t state, const char *exchange, const message_t *message) {
  amqp_table_entry_t headers[6] = {
      text("ce-id", message->fields[ID]),           text("ce-type", message->fields[TYPE]),
      text("ce-source", message->fields[SOURCE]),   text("ce-subject", message->fields[SUBJECT]),
      text("ce-correlationid", message->fields[CORRELATION]),
  };
  headers[5].key = amqp_cstring_bytes("ce-sequence");
  headers[5].value.kind = AMQP_FIELD_KIND_I64;
  headers[5].value.value.i64 = atoll(message->fields[SEQUENCE]);
  amqp_basic_properties_t properties = {
      ._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_TYPE_FLAG |
                AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_TIMESTAMP_FLAG | AMQP_BASIC_HEADERS_FLAG,
      .delivery_mode = 2,
      .message_id = amqp_cstring_bytes(message->fields[ID]),
      .type = amqp_cstring_bytes(message->fields[TYPE]),
      .content_type = amqp_cstring_bytes("application/cloudevents+json"),
      .timestamp = strtoull(message->fields[TIME], NULL, 10),
      .headers = {.num_entries = 6, .entries = headers},
  };
  check(amqp_basic_publish(state, CHANNEL, amqp_cstring_bytes(exchange),
                           amqp_cstring_bytes(message->fields[ROUTING_KEY]), 1, 0, &properties,
                           amqp_cstring_bytes(message->fields[BODY])),
        "publishing");
}

// Waits for one frame; returns how many confirms it brought. Nothing but acks is expected. Acks come one by one, or for all
// up to a number; out of order they are counted so that the sum is right: `multiple` counts what is still open below it.
static size_t take_confirm(amqp_connection_state_t state, char *confirmed, size_t *lowest) {
  amqp_frame_t frame;
  amqp_maybe_release_buffers(state);
  check(amqp_simple_wait_frame(state, &frame), "waiting for a confirm");
  if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
    fail("waiting for a confirm", "something else came");
  }
  amqp_basic_ack_t *ack = frame.payload.method.decoded;
  size_t count = 0;
  for (size_t tag = ack->multiple ? *lowest : ack->delivery_tag; tag <= ack->delivery_tag; tag++) {
    if (!confirmed[tag]) count++;
    confirmed[tag] = 1;
  }
  while (confirmed[*lowest]) ++*lowest;
  return count;
}

int main(int count, char **arguments) {
  char *url = getenv("RELAY_LOOP_URL");
  if (count != 4 || !url) fail("usage", "RELAY_LOOP_URL=amqp://... relay_loop <exchange> <window> <file>");
  size_t window = strtoul(arguments[2], NULL, 10);
  size_t total;
  message_t *messages = read_messages(arguments[3], &total);
  char *confirmed = calloc(total + 2, 1);
  if (!confirmed || !window || !total) fail("starting", "nothing to do, or no memory");
  amqp_connection_state_t state = log_in(strdup(url));
  size_t sent = 0, done = 0, lowest = 1;
  double start = now();
  while (done < total) {
    while (sent < total && sent - done < window) publish(state, arguments[1], &messages[sent++]);
    done += take_confirm(state, confirmed, &lowest);
  }
  double seconds = now() - start;
  printf("%.1f\n", (double)total / seconds);
  amqp_connection_close(state, AMQP_REPLY_SUCCESS);
  amqp_destroy_connection(state);
  return 0;
}
