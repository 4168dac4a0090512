#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

/* An OSSL_PARAM keeps the pointers to its name and value. A Swift string or array given as an argument is gone after the
   call, so whatever takes parameters is called here. */

/* A null key would mean "the one from before". */
static inline int transfa_hmac_init(EVP_MAC_CTX *context, const char *hash, const unsigned char *key, size_t count) {
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)hash, 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_init(context, key ? key : (const unsigned char *)"", count, parameters);
}

static inline int transfa_hkdf(EVP_KDF_CTX *context, const char *hash, const unsigned char *key, size_t key_count,
                               const unsigned char *salt, size_t salt_count, const unsigned char *info, size_t info_count,
                               unsigned char *out, size_t out_count) {
    const unsigned char *nothing = (const unsigned char *)"";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)hash, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)(key ? key : nothing), key_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)(salt ? salt : nothing), salt_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)(info ? info : nothing), info_count),
        OSSL_PARAM_construct_end()};
    return EVP_KDF_derive(context, out, out_count, parameters);
}

static inline EVP_PKEY *transfa_key(const char *type, int selection, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!context || EVP_PKEY_fromdata_init(context) != 1 || EVP_PKEY_fromdata(context, &key, selection, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

/* libcrypto refuses a point that is not on the curve. */
static inline EVP_PKEY *transfa_p256_public(const unsigned char *point, size_t count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)SN_X9_62_prime256v1, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count), OSSL_PARAM_construct_end()};
    return transfa_key("EC", EVP_PKEY_PUBLIC_KEY, parameters);
}

/* A key pair of its secret number, NULL unless that is at least 1 and below the order of the curve. */
static inline EVP_PKEY *transfa_p256_private(const unsigned char *secret, size_t count) {
    EVP_PKEY *key = NULL;
    unsigned char point[65];
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    BIGNUM *number = BN_secure_new();
    EC_POINT *public = group ? EC_POINT_new(group) : NULL;
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    if (number && public && build && BN_bin2bn(secret, (int)count, number) && !BN_is_zero(number) &&
        BN_cmp(number, EC_GROUP_get0_order(group)) < 0) {
        BN_set_flags(number, BN_FLG_CONSTTIME);
        if (EC_POINT_mul(group, public, number, NULL, NULL, NULL) == 1 &&
            EC_POINT_point2oct(group, public, POINT_CONVERSION_UNCOMPRESSED, point, sizeof point, NULL) == sizeof point &&
            OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0) == 1 &&
            OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1 &&
            OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, number) == 1 &&
            (parameters = OSSL_PARAM_BLD_to_param(build)))
            key = transfa_key("EC", EVP_PKEY_KEYPAIR, parameters);
    }
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(build);
    EC_POINT_free(public);
    BN_clear_free(number);
    EC_GROUP_free(group);
    return key;
}

/* The secret number of a key pair, in 32 bytes. */
static inline int transfa_p256_secret(const EVP_PKEY *key, unsigned char *out) {
    BIGNUM *number = NULL;
    int is_there = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1 && BN_bn2binpad(number, out, 32) == 32;
    BN_clear_free(number);
    return is_there;
}

/* Of the numbers of a JSON Web Key, which are big-endian. */
static inline EVP_PKEY *transfa_rsa_public(const unsigned char *n, size_t n_count, const unsigned char *e, size_t e_count) {
    EVP_PKEY *key = NULL;
    BIGNUM *modulus = BN_bin2bn(n, (int)n_count, NULL), *exponent = BN_bin2bn(e, (int)e_count, NULL);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    if (modulus && exponent && build && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent) == 1 && (parameters = OSSL_PARAM_BLD_to_param(build)))
        key = transfa_key("RSA", EVP_PKEY_PUBLIC_KEY, parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(build);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

/* One number of an RSA key, big-endian; the count of its bytes, 0 when there is none or it does not fit. */
static inline int transfa_rsa_number(const EVP_PKEY *key, const char *name, unsigned char *out, int room) {
    BIGNUM *number = NULL;
    int count = 0;
    if (EVP_PKEY_get_bn_param(key, name, &number) == 1 && BN_num_bytes(number) <= room) count = BN_bn2bin(number, out);
    BN_free(number);
    return count;
}

/* A macro: the bytes of a memory BIO, and how many. */
static inline long transfa_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

/* A PEM under a password is refused; without this, the terminal would be asked. */
static inline int transfa_no_password(char *buffer, int size, int is_writing, void *context) {
    (void)buffer, (void)size, (void)is_writing, (void)context;
    return -1;
}

static inline EVP_PKEY *transfa_pem_private(BIO *bio) { return PEM_read_bio_PrivateKey(bio, NULL, transfa_no_password, NULL); }

static inline EVP_PKEY *transfa_pem_public(BIO *bio) { return PEM_read_bio_PUBKEY(bio, NULL, transfa_no_password, NULL); }

static inline int transfa_write_pem_private(BIO *bio, EVP_PKEY *key) {
    return PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
}
