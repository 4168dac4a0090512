/* Prints device keys: one line each with the private scalar and the public point of P-256 in hexadecimal. */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

static void print_hex(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) printf("%02x", bytes[i]);
}

static int print_key(void)
{
    unsigned char scalar[32], point[65];
    size_t length = 0;
    BIGNUM *number = NULL;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    int fine = key != NULL && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1
        && BN_bn2binpad(number, scalar, sizeof scalar) == (int)sizeof scalar
        && EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point, &length) == 1
        && length == sizeof point && point[0] == 4;
    if (fine) {
        print_hex(scalar, sizeof scalar);
        putchar(' ');
        print_hex(point, sizeof point);
        putchar('\n');
    }
    BN_clear_free(number);
    EVP_PKEY_free(key);
    return fine;
}

int main(int argc, char **argv)
{
    long count = argc == 2 ? atol(argv[1]) : 0;
    if (count < 1 || count > 100000) {
        fprintf(stderr, "usage: keys <number>\n");
        return 64;
    }
    for (long i = 0; i < count; i++) {
        if (!print_key()) {
            fprintf(stderr, "keys: OpenSSL made no key\n");
            return 1;
        }
    }
    return 0;
}
