#include "payments.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const path = "/transactions/p2p";
/* In kobo; the least that the provider takes between banks. */
static const int amount = 100;

uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* People ---------------------------------------------------------------------------------------------------------- */

static int bytes_of_hex(const char *text, unsigned char *bytes, size_t count)
{
    if (strlen(text) != 2 * count) return 0;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1) return 0;
        bytes[i] = (unsigned char)value;
    }
    return 1;
}

/* One context per person, made once: initialising it costs about as much as a signature. */
static EVP_PKEY_CTX *signer_of(const char *scalar_hex, const char *point_hex)
{
    unsigned char scalar[32], point[65];
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *signer = NULL;
    if (!bytes_of_hex(scalar_hex, scalar, sizeof scalar) || !bytes_of_hex(point_hex, point, sizeof point)) return NULL;
    BIGNUM *number = BN_bin2bn(scalar, sizeof scalar, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0);
    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number);
    OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point);
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (EVP_PKEY_fromdata_init(maker) == 1
        && EVP_PKEY_fromdata(maker, &key, EVP_PKEY_KEYPAIR, parameters) == 1) {
        signer = EVP_PKEY_CTX_new(key, NULL);
        if (EVP_PKEY_sign_init(signer) != 1) signer = NULL;
    }
    EVP_PKEY_CTX_free(maker);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_clear_free(number);
    EVP_PKEY_free(key);
    return signer;
}

static int read_person(char *line, struct person *person)
{
    char *field[6], *rest = line;
    for (int i = 0; i < 6; i++) {
        field[i] = strsep(&rest, "\t\n");
        if (field[i] == NULL) return 0;
    }
    if (strlen(field[0]) != 36 || strlen(field[1]) != 36 || strlen(field[4]) >= sizeof person->username) return 0;
    strcpy(person->user, field[0]);
    strcpy(person->device, field[1]);
    strcpy(person->username, field[4]);
    person->token = strdup(field[5]);
    person->signer = signer_of(field[2], field[3]);
    return person->signer != NULL && strlen(person->token) < 2048;
}

int read_people(const char *file, struct people *people)
{
    char line[4096];
    size_t room = 1024;
    FILE *input = fopen(file, "r");
    if (input == NULL) return 0;
    people->count = 0;
    people->list = calloc(room, sizeof *people->list);
    while (fgets(line, sizeof line, input) != NULL) {
        if (people->count == room) {
            room *= 2;
            people->list = realloc(people->list, room * sizeof *people->list);
        }
        if (!read_person(line, &people->list[people->count++])) {
            fprintf(stderr, "load: line %zu of %s is malformed\n", people->count, file);
            return 0;
        }
    }
    fclose(input);
    return people->count >= 2;
}

/* Payments -------------------------------------------------------------------------------------------------------- */

static void write_uuid(uint64_t *random, char *text)
{
    uint64_t a = next_random(random), b = next_random(random);
    a = (a & ~0xf000ull) | 0x4000ull;
    b = (b & ~(3ull << 62)) | (2ull << 62);
    snprintf(text, 37, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
             (unsigned)(a & 0xffff), (unsigned)(b >> 48), (unsigned long long)(b & 0xffffffffffffull));
}

static void write_base64url(const unsigned char *bytes, size_t count, char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t bits = 0, held = 0;
    for (size_t i = 0; i < count; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 6; bits -= 6) *text++ = digits[held >> (bits - 6) & 63];
    }
    if (bits > 0) *text++ = digits[held << (6 - bits) & 63];
    *text = '\0';
}

static int write_body(const struct person *recipient, char *body, size_t room)
{
    return snprintf(body, room, "{\"recipient_username\":\"%s\",\"amount\":%d}", recipient->username, amount);
}

/* The approval text of the API: see ApprovalText. */
static int sign(const struct people *people, const char *timestamp, struct payment *payment)
{
    const struct person *sender = &people->list[payment->sender];
    char body[128], hex[65], text[512];
    unsigned char digest[32], der[80], raw[64];
    int length = write_body(&people->list[payment->recipient], body, sizeof body);
    SHA256((const unsigned char *)body, (size_t)length, digest);
    for (int i = 0; i < 32; i++) sprintf(hex + 2 * i, "%02x", digest[i]);
    length = snprintf(text, sizeof text, "TRANSFA-APPROVAL-1\nPOST\n%s\n%s\n%s\n%s\n%s", path, hex, payment->nonce,
                      timestamp, sender->user);
    SHA256((const unsigned char *)text, (size_t)length, digest);
    size_t size = sizeof der;
    if (EVP_PKEY_sign(sender->signer, der, &size, digest, sizeof digest) != 1) return 0;
    const unsigned char *start = der;
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &start, (long)size);
    if (signature == NULL) return 0;
    BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw + 32, 32);
    ECDSA_SIG_free(signature);
    write_base64url(raw, sizeof raw, payment->signature);
    return 1;
}

int prepare_payments(const struct people *people, size_t count, uint64_t seed, struct payments *payments)
{
    payments->count = count;
    payments->list = calloc(count, sizeof *payments->list);
    snprintf(payments->timestamp, sizeof payments->timestamp, "%lld", (long long)time(NULL));
    for (size_t i = 0; i < count; i++) {
        struct payment *payment = &payments->list[i];
        payment->sender = (uint32_t)(next_random(&seed) % people->count);
        payment->recipient = (uint32_t)(next_random(&seed) % (people->count - 1));
        if (payment->recipient >= payment->sender) payment->recipient++;
        write_uuid(&seed, payment->key);
        write_uuid(&seed, payment->nonce);
        if (!sign(people, payments->timestamp, payment)) return 0;
    }
    return 1;
}

int keep_payments(const char *file, const struct payments *payments)
{
    FILE *output = fopen(file, "w");
    if (output == NULL) return 0;
    size_t items = fwrite(&payments->count, sizeof payments->count, 1, output);
    items += fwrite(payments->timestamp, sizeof payments->timestamp, 1, output);
    items += fwrite(payments->list, sizeof *payments->list, payments->count, output);
    return fclose(output) == 0 && items == payments->count + 2;
}

int read_payments(const char *file, const struct people *people, struct payments *payments)
{
    FILE *input = fopen(file, "r");
    if (input == NULL) return 0;
    size_t items = fread(&payments->count, sizeof payments->count, 1, input);
    items += fread(payments->timestamp, sizeof payments->timestamp, 1, input);
    payments->list = items == 2 ? calloc(payments->count, sizeof *payments->list) : NULL;
    if (payments->list != NULL) items += fread(payments->list, sizeof *payments->list, payments->count, input);
    fclose(input);
    if (payments->list == NULL || payments->count == 0 || items != payments->count + 2) return 0;
    for (size_t i = 0; i < payments->count; i++) {
        const struct payment *payment = &payments->list[i];
        if (payment->sender >= people->count || payment->recipient >= people->count) return 0;
    }
    return 1;
}

size_t write_request(const struct people *people, const struct payments *payments, size_t index, const char *host,
                     char *buffer)
{
    const struct payment *payment = &payments->list[index];
    const struct person *sender = &people->list[payment->sender];
    char body[128];
    int length = write_body(&people->list[payment->recipient], body, sizeof body);
    int written = snprintf(
        buffer, REQUEST_LIMIT,
        "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
        "Authorization: Bearer %s\r\nIdempotency-Key: %s\r\n"
        "Transfa-Approval: device id=%s, nonce=%s, ts=%s, sig=%s\r\n\r\n%s",
        path, host, length, sender->token, payment->key, sender->device, payment->nonce, payments->timestamp,
        payment->signature, body);
    return written > 0 && written < REQUEST_LIMIT ? (size_t)written : 0;
}
