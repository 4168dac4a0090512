/* People who pay each other, and payments that are signed before the clock runs. */
#ifndef PAYMENTS_H
#define PAYMENTS_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

struct person {
    char user[37];
    char device[37];
    char username[24];
    char *token;
    EVP_PKEY_CTX *signer;
};

struct people {
    struct person *list;
    size_t count;
};

/* A payment with everything that takes time to make; the request around it is put together when it is sent. */
struct payment {
    uint32_t sender;
    uint32_t recipient;
    char key[37];
    char nonce[37];
    char signature[88];
};

struct payments {
    struct payment *list;
    size_t count;
    char timestamp[16];
};

enum { REQUEST_LIMIT = 4096 };

/* Reads lines of user, device, private scalar, public point, username and token, separated by tabs. */
int read_people(const char *path, struct people *people);

/* Signs `count` payments between people chosen at random. */
int prepare_payments(const struct people *people, size_t count, uint64_t seed, struct payments *payments);

/* Writes payments to a file, for this machine alone: they are there as they are in memory. */
int keep_payments(const char *path, const struct payments *payments);

/* Reads them again, with the same people. */
int read_payments(const char *path, const struct people *people, struct payments *payments);

/* Writes the whole HTTP request; returns its length. */
size_t write_request(const struct people *people, const struct payments *payments, size_t index, const char *host,
                     char *buffer);

/* A generator of random numbers that is fast and repeatable. */
uint64_t next_random(uint64_t *state);

#endif
