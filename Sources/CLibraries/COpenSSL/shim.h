// The door to OpenSSL 3: its headers, and functions for macros that Swift cannot call. Only SecureLink imports it.
#ifndef SAKER_COPENSSL_SHIM_H
#define SAKER_COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/engine.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// SSL_CTX_set_min_proto_version
static inline int saker_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

/// SSL_CTX_set_mode, with the modes for a channel whose buffers move and that uses little memory.
static inline void saker_SSL_CTX_set_channel_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
}

/// SSL_CTX_set_options: no renegotiation, no compression.
static inline void saker_SSL_CTX_set_strict_options(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

/// SSL_CTX_set_session_cache_mode: sessions go to our callback, not into OpenSSL's table.
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

/// X509_NAME_print_ex with XN_FLAG_ONELINE, without escaping UTF-8.
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

/// Whether a provider that is loaded, or built in, opens URIs of a scheme: 1 or 0.
static inline int saker_store_knows(const char *scheme) {
    OSSL_STORE_LOADER *loader = OSSL_STORE_LOADER_fetch(NULL, scheme, NULL);
    OSSL_STORE_LOADER_free(loader);
    return loader != NULL;
}

/// Answers OpenSSL's question for a PIN or passphrase with the user data.
static inline int saker_answer_pin(UI *ui, UI_STRING *question) {
    const char *pin = UI_get0_user_data(ui);
    switch (UI_get_string_type(question)) {
    case UIT_PROMPT:
    case UIT_VERIFY: return pin != NULL && UI_set_result(ui, question, pin) == 0;
    default: return 1;
    }
}

/// OSSL_STORE_open, with a PIN for keys that need one; NULL for no PIN. The PIN must outlive the store.
static inline OSSL_STORE_CTX *saker_store_open(const char *uri, const char *pin) {
    static UI_METHOD *method;
    if (pin == NULL) return OSSL_STORE_open(uri, UI_null(), NULL, NULL, NULL);
    if (method == NULL && (method = UI_create_method("saker PIN")) != NULL) {
        UI_method_set_reader(method, saker_answer_pin);
    }
    return method == NULL ? NULL : OSSL_STORE_open(uri, method, (void *)(size_t)pin, NULL, NULL);
}

// Engines reach PKCS#11 where there is no provider for it. OpenSSL 3 deprecates them; later versions have none.
#ifndef OPENSSL_NO_ENGINE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// ENGINE_by_id. Loads the engine if necessary; it stays for the life of the process.
static inline void *saker_engine(const char *name) {
    ENGINE_load_dynamic();
    ENGINE *engine = ENGINE_by_id(name);
    // Otherwise the engine prints its errors, and more, on standard error.
    if (engine != NULL) ENGINE_ctrl_cmd_string(engine, "QUIET", NULL, 1);
    return engine;
}

/// ENGINE_ctrl_cmd_string
static inline int saker_engine_set(void *engine, const char *command, const char *value) {
    return ENGINE_ctrl_cmd_string((ENGINE *)engine, command, value, 0);
}

/// ENGINE_load_private_key, without asking on a terminal.
static inline EVP_PKEY *saker_engine_key(void *engine, const char *name) {
    if (ENGINE_init((ENGINE *)engine) != 1) return NULL;
    EVP_PKEY *key = ENGINE_load_private_key((ENGINE *)engine, name, (UI_METHOD *)UI_null(), NULL);
    ENGINE_finish((ENGINE *)engine);
    return key;
}

#pragma GCC diagnostic pop
#else
static inline void *saker_engine(const char *name) { return NULL; }
static inline int saker_engine_set(void *engine, const char *command, const char *value) { return 0; }
static inline EVP_PKEY *saker_engine_key(void *engine, const char *name) { return NULL; }
#endif

#endif
