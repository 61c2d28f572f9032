// The door to OpenSSL 3: its headers, and functions for the macros that Swift cannot call. Imported by SecureLink only.
#ifndef SAKER_COPENSSL_SHIM_H
#define SAKER_COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// SSL_CTX_set_min_proto_version
static inline int saker_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

/// SSL_CTX_set_mode, with the modes a channel of moving buffers and little memory needs.
static inline void saker_SSL_CTX_set_channel_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
}

/// SSL_CTX_set_options: no renegotiation, no compression.
static inline void saker_SSL_CTX_set_strict_options(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

/// SSL_CTX_set_session_cache_mode: sessions go to our callback, not into a table of OpenSSL's.
static inline void saker_SSL_CTX_hand_over_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

/// SSL_set_tlsext_host_name
static inline int saker_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

/// BIO_set_retry_read
static inline void saker_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }

/// BIO_clear_retry_flags
static inline void saker_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }

/// BIO_get_mem_data
static inline long saker_BIO_get_mem_data(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

/// X509_NAME_print_ex with XN_FLAG_ONELINE, but UTF-8 left as it is.
static inline int saker_X509_NAME_print(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
}

/// sk_X509_new_null and sk_X509_push: a stack that borrows one certificate.
static inline STACK_OF(X509) *saker_X509_stack_borrowing(X509 *certificate) {
    STACK_OF(X509) *stack = sk_X509_new_null();
    if (stack != NULL && sk_X509_push(stack, certificate) == 0) {
        sk_X509_free(stack);
        return NULL;
    }
    return stack;
}

/// sk_X509_free: frees the stack, not what it borrows.
static inline void saker_X509_stack_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

#endif
