/* Pays over HTTP, as fast as the service answers (closed loop) or at a given rate (open loop), new payments or such that
 * were kept, byte for byte, around and around.
 *
 * One thread, keep-alive connections, one request at a time on each. In the open loop a request has an intended start,
 * drawn beforehand; its latency counts from there, also when it had to wait for a free connection, and one that is not
 * answered in time is counted as dropped and as slow as can be. Prints one JSON line. */
#include "payments.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_LIMIT = 4096, CONNECTION_LIMIT = 4096, EVENTS = 256 };

/* Nobody waits longer: an unanswered request is dropped then. In microseconds. */
static const int64_t patience = 5000000;

struct connection {
    int socket;
    int busy;
    int64_t intended;
    size_t filled;
    char answer[ANSWER_LIMIT];
};

struct options {
    const char *people;
    int port;
    int connections;
    double seconds;
    double warm_up;
    double rate; /* 0: closed loop */
    size_t prepared;
    uint64_t seed;
    const char *keep;  /* the file to which the payments go */
    const char *again; /* the file of payments that are sent again, in place of new ones */
};

struct load {
    struct options options;
    struct people people;
    struct payments payments;
    char host[32];
    int poll;
    struct connection *connections;
    int *free_list;
    int free_count;
    size_t planned;      /* requests: those of payments that are sent again go around */
    size_t next;         /* request to send */
    int64_t *intended;   /* open loop: start of each request */
    size_t arrived;      /* open loop: requests whose time has come */
    int64_t from, until; /* the measured window */
    uint32_t *latencies; /* microseconds */
    size_t measured, accepted, replayed, dropped, errors;
    size_t statuses[600];
    int64_t latest;      /* how far behind its schedule the generator itself was at most */
    int exhausted;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static _Noreturn void stop(const char *reason)
{
    fprintf(stderr, "load: %s: %s\n", reason, strerror(errno));
    exit(1);
}

/* Connections ----------------------------------------------------------------------------------------------------- */

static void open_connection(struct load *load, int index)
{
    struct connection *connection = &load->connections[index];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)load->options.port)};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    int one = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) stop("no socket");
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0) stop("no connection");
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (epoll_ctl(load->poll, EPOLL_CTL_ADD, connection->socket, &event) != 0) stop("epoll");
    connection->busy = 0;
    connection->filled = 0;
    load->free_list[load->free_count++] = index;
}

static void note(struct load *load, int64_t intended, int64_t latency)
{
    if (intended < load->from || intended >= load->until) return;
    load->latencies[load->measured++] = latency > patience ? (uint32_t)patience : (uint32_t)latency;
}

static void drop(struct load *load, int64_t intended)
{
    if (intended >= load->from && intended < load->until) load->dropped++;
    note(load, intended, patience);
}

static void replace_connection(struct load *load, int index)
{
    struct connection *connection = &load->connections[index];
    if (connection->busy) {
        load->errors++;
        drop(load, connection->intended);
    }
    close(connection->socket);
    if (!connection->busy) {
        /* It stands in the list of free ones. */
        for (int i = 0; i < load->free_count; i++) {
            if (load->free_list[i] == index) load->free_list[i] = load->free_list[--load->free_count];
        }
    }
    open_connection(load, index);
}

static void send_next(struct load *load, int64_t intended)
{
    char request[REQUEST_LIMIT];
    int index = load->free_list[--load->free_count];
    struct connection *connection = &load->connections[index];
    size_t payment = load->next++ % load->payments.count;
    size_t length = write_request(&load->people, &load->payments, payment, load->host, request);
    connection->busy = 1;
    connection->filled = 0;
    connection->intended = intended;
    /* It fits into the socket's buffer, so a blocking socket does not block. */
    if (send(connection->socket, request, length, MSG_NOSIGNAL) != (ssize_t)length) replace_connection(load, index);
}

/* Answers --------------------------------------------------------------------------------------------------------- */

/* The status when the answer is complete, 0 when more must come, -1 when it is none. */
static int complete_status(struct connection *connection)
{
    connection->answer[connection->filled] = '\0';
    char *end = strstr(connection->answer, "\r\n\r\n");
    if (end == NULL) return connection->filled + 1 < ANSWER_LIMIT ? 0 : -1;
    char *length = strcasestr(connection->answer, "\r\ncontent-length:");
    if (length == NULL || length > end) return -1;
    size_t whole = (size_t)(end + 4 - connection->answer) + strtoul(length + 17, NULL, 10);
    if (whole >= ANSWER_LIMIT) return -1;
    if (connection->filled < whole) return 0;
    int status = atoi(connection->answer + 9);
    return status >= 100 && status < 600 ? status : -1;
}

static void take_answer(struct load *load, struct connection *connection, int status)
{
    int64_t now = now_us();
    note(load, connection->intended, now - connection->intended);
    if (connection->intended >= load->from && connection->intended < load->until) {
        load->statuses[status]++;
        if (status != 202 && load->measured - load->accepted <= 3) {
            fprintf(stderr, "load: %s\n", connection->answer);
        }
    }
    /* Counted when it is answered: what is accepted after the end belongs to nobody. */
    if (status == 202 && now >= load->from && now < load->until) {
        load->accepted++;
        if (strcasestr(connection->answer, "\r\nidempotency-replayed: true\r\n") != NULL) load->replayed++;
    }
    connection->busy = 0;
    load->free_list[load->free_count++] = (int)(connection - load->connections);
}

static void receive(struct load *load, int index)
{
    struct connection *connection = &load->connections[index];
    ssize_t count = recv(connection->socket, connection->answer + connection->filled,
                         ANSWER_LIMIT - 1 - connection->filled, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0 || !connection->busy) {
        replace_connection(load, index);
        return;
    }
    connection->filled += (size_t)count;
    int status = complete_status(connection);
    if (status < 0) replace_connection(load, index);
    if (status > 0) take_answer(load, connection, status);
}

/* The loop -------------------------------------------------------------------------------------------------------- */

/* Sends whatever is due; returns the time of the next start, or when there is none, far away. */
static int64_t send_due(struct load *load, int64_t now)
{
    const int64_t far = now + 100000;
    if (load->options.rate == 0) {
        while (now < load->until && load->free_count > 0 && load->next < load->planned) send_next(load, now_us());
        if (load->next == load->planned && now < load->until) load->exhausted = 1;
        return far;
    }
    while (load->arrived < load->planned && load->intended[load->arrived] <= now) {
        int64_t late = now - load->intended[load->arrived++];
        if (late > load->latest) load->latest = late;
    }
    while (load->next < load->arrived && load->free_count > 0) send_next(load, load->intended[load->next]);
    while (load->next < load->arrived && load->intended[load->next] < now - patience) {
        drop(load, load->intended[load->next++]);
    }
    return load->arrived < load->planned ? load->intended[load->arrived] : far;
}

static int is_over(struct load *load, int64_t now)
{
    if (load->exhausted) return load->free_count == load->options.connections;
    if (now < load->until) return 0;
    return now > load->until + patience
        || (load->free_count == load->options.connections && load->next >= load->arrived);
}

static void drop_late_ones(struct load *load, int64_t now)
{
    for (int i = 0; i < load->options.connections; i++) {
        struct connection *connection = &load->connections[i];
        if (connection->busy && connection->intended < now - patience) replace_connection(load, i);
    }
}

static void run(struct load *load)
{
    struct epoll_event events[EVENTS];
    int64_t checked = now_us();
    for (int64_t now = checked; !is_over(load, now); now = now_us()) {
        int64_t wait = send_due(load, now) - now;
        if (wait < 0) wait = 0;
        struct timespec timeout = {.tv_sec = wait / 1000000, .tv_nsec = wait % 1000000 * 1000};
        int count = epoll_pwait2(load->poll, events, EVENTS, &timeout, NULL);
        if (count < 0 && errno != EINTR) stop("epoll");
        for (int i = 0; i < count; i++) receive(load, (int)events[i].data.u32);
        if (now - checked > 200000) {
            drop_late_ones(load, now);
            checked = now;
        }
    }
    drop_late_ones(load, INT64_MAX - patience);
}

/* Starts of independent people: exponential gaps. */
static void draw_starts(struct load *load, int64_t start)
{
    double at = (double)start;
    uint64_t state = load->options.seed ^ 0x5bd1e995;
    load->intended = calloc(load->planned, sizeof *load->intended);
    for (size_t i = 0; i < load->planned; i++) {
        double uniform = (double)((next_random(&state) >> 11) + 1) / 9007199254740993.0;
        at += -log(uniform) * 1e6 / load->options.rate;
        load->intended[i] = (int64_t)at;
    }
    /* Those that would come after the end are not sent. */
    while (load->planned > 0 && load->intended[load->planned - 1] >= load->until) load->planned--;
}

/* The report ------------------------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double percentile(const struct load *load, double share)
{
    if (load->measured == 0) return 0;
    size_t rank = (size_t)ceil(share * (double)load->measured);
    return load->latencies[rank == 0 ? 0 : rank - 1] / 1000.0;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void report(struct load *load, double cpu, int64_t ended)
{
    double seconds = (double)((ended < load->until ? ended : load->until) - load->from) / 1e6;
    qsort(load->latencies, load->measured, sizeof *load->latencies, compare);
    printf("{\"seconds\":%.3f,\"requests\":%zu,\"accepted\":%zu,\"accepted_per_second\":%.1f,\"replayed\":%zu,"
           "\"dropped\":%zu,\"connection_errors\":%zu,\"p50_ms\":%.3f,\"p90_ms\":%.3f,\"p99_ms\":%.3f,\"p999_ms\":%.3f,"
           "\"max_ms\":%.3f,\"generator_cpu_percent\":%.1f,\"generator_late_ms\":%.3f,\"exhausted\":%s,\"statuses\":{",
           seconds, load->measured, load->accepted, (double)load->accepted / seconds, load->replayed, load->dropped,
           load->errors, percentile(load, 0.5), percentile(load, 0.9), percentile(load, 0.99), percentile(load, 0.999),
           percentile(load, 1), cpu, (double)load->latest / 1000.0, load->exhausted ? "true" : "false");
    const char *comma = "";
    for (int status = 100; status < 600; status++) {
        if (load->statuses[status] == 0) continue;
        printf("%s\"%d\":%zu", comma, status, load->statuses[status]);
        comma = ",";
    }
    printf("}}\n");
}

static struct options parse(int argc, char **argv)
{
    static const struct option names[] = {
        {"people", required_argument, NULL, 'p'},      {"port", required_argument, NULL, 'o'},
        {"connections", required_argument, NULL, 'c'}, {"seconds", required_argument, NULL, 's'},
        {"warm-up", required_argument, NULL, 'w'},     {"rate", required_argument, NULL, 'r'},
        {"prepare", required_argument, NULL, 'n'},     {"seed", required_argument, NULL, 'x'},
        {"keep", required_argument, NULL, 'k'},        {"again", required_argument, NULL, 'a'},
        {0},
    };
    struct options options = {.connections = 128, .seconds = 30};
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (option) {
        case 'p': options.people = optarg; break;
        case 'o': options.port = atoi(optarg); break;
        case 'c': options.connections = atoi(optarg); break;
        case 's': options.seconds = atof(optarg); break;
        case 'w': options.warm_up = atof(optarg); break;
        case 'r': options.rate = atof(optarg); break;
        case 'n': options.prepared = strtoul(optarg, NULL, 10); break;
        case 'x': options.seed = strtoull(optarg, NULL, 10); break;
        case 'k': options.keep = optarg; break;
        case 'a': options.again = optarg; break;
        default: exit(64);
        }
    }
    int limit = options.connections > 0 && options.connections <= CONNECTION_LIMIT;
    if (options.people == NULL || options.port == 0 || !limit || (options.rate == 0 && options.prepared == 0)) {
        fprintf(stderr, "usage: load --people FILE --port N --seconds S [--warm-up S] [--connections N] [--seed N]\n"
                        "            (--rate R | --prepare N) [--keep FILE | --again FILE]\n");
        exit(64);
    }
    return options;
}

int main(int argc, char **argv)
{
    static struct load load;
    load.options = parse(argc, argv);
    double total = load.options.seconds + load.options.warm_up;
    size_t count = load.options.prepared;
    if (load.options.rate > 0) count = (size_t)(load.options.rate * total * 1.05 + 200);
    uint64_t seed = load.options.seed ^ (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
    if (!read_people(load.options.people, &load.people)) stop("the people could not be read");
    if (load.options.again != NULL) {
        if (!read_payments(load.options.again, &load.people, &load.payments)) stop("the payments could not be read");
    } else if (!prepare_payments(&load.people, count, seed, &load.payments)) {
        stop("OpenSSL signed nothing");
    }
    if (load.options.keep != NULL && !keep_payments(load.options.keep, &load.payments)) stop("nothing could be kept");
    load.planned = count;
    snprintf(load.host, sizeof load.host, "127.0.0.1:%d", load.options.port);
    load.latencies = calloc(count, sizeof *load.latencies);
    load.connections = calloc((size_t)load.options.connections, sizeof *load.connections);
    load.free_list = calloc((size_t)load.options.connections, sizeof *load.free_list);
    load.poll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < load.options.connections; i++) open_connection(&load, i);
    fprintf(stderr, "load: %zu payments prepared\n", count);

    double cpu = cpu_seconds();
    int64_t start = now_us();
    load.from = start + (int64_t)(load.options.warm_up * 1e6);
    load.until = start + (int64_t)(total * 1e6);
    if (load.options.rate > 0) draw_starts(&load, start);
    run(&load);
    int64_t ended = now_us();
    report(&load, (cpu_seconds() - cpu) / ((double)(ended - start) / 1e6) * 100, ended);
    return 0;
}
