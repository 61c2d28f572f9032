// The door to OpenSSL 3: its headers, and functions for macros that Swift cannot call. Only SecureLink imports it.
#ifndef SAKER_COPENSSL_SHIM_H
#define SAKER_COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/engine.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

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

/// SSL_CTX_set_session_cache_mode: a server keeps no sessions, because its clients have them in tickets. A client uses one ticket at a
/// time, so each handshake makes one.
static inline void saker_SSL_CTX_keep_no_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
}

/// SSL_CTX_set_mode: a server shows the chain that it was given, and no authority of its clients.
static inline void saker_SSL_CTX_show_given_chain(SSL_CTX *context) { SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN); }

/// SSL_CTX_add1_chain_cert
static inline int saker_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
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

/// sk_X509_num: 0 for no stack.
static inline int saker_X509_stack_count(const STACK_OF(X509) *stack) {
    return stack == NULL ? 0 : sk_X509_num(stack);
}

/// sk_X509_value
static inline X509 *saker_X509_stack_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }

/// sk_X509_free: frees the stack, not what it borrows.
static inline void saker_X509_stack_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

/// The alternative names of a certificate; NULL for none. To be freed with saker_uri_names_free.
static inline GENERAL_NAMES *saker_uri_names(X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

/// The next name of the kind URI from `index` on, which then stands behind it; NULL for no further one.
static inline const unsigned char *saker_uri_name(const GENERAL_NAMES *names, int *index, int *length) {
    int count = names == NULL ? 0 : sk_GENERAL_NAME_num(names);
    while (*index < count) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, (*index)++);
        if (name->type != GEN_URI) continue;
        *length = ASN1_STRING_length(name->d.uniformResourceIdentifier);
        return ASN1_STRING_get0_data(name->d.uniformResourceIdentifier);
    }
    return NULL;
}

static inline void saker_uri_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

/// MBSTRING_UTF8
static inline int saker_MBSTRING_UTF8(void) { return MBSTRING_UTF8; }

/// A key on P-256, by the providers that the property query chooses; NULL for any. Returns NULL when none makes it.
static inline EVP_PKEY *saker_make_p256(const char *properties) {
    return EVP_PKEY_Q_keygen(NULL, properties, "EC", "P-256");
}

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

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// How keys of other providers sign: `index` is where the EC_KEY has the key of the provider.
typedef struct {
    CRYPTO_ONCE once;
    EC_KEY_METHOD *method;
    int index;
} saker_foreign_state;

static inline saker_foreign_state *saker_foreign(void) {
    static saker_foreign_state state = {CRYPTO_ONCE_STATIC_INIT, NULL, -1};
    return &state;
}

static inline int saker_foreign_sign(
    int type, const unsigned char *digest, int length, unsigned char *signature, unsigned int *size, const BIGNUM *kinv,
    const BIGNUM *r, EC_KEY *key) {
    EVP_PKEY *own = (EVP_PKEY *)EC_KEY_get_ex_data(key, saker_foreign()->index);
    char properties[80] = "provider=";
    if (own == NULL) return 0;
    OPENSSL_strlcat(properties, OSSL_PROVIDER_get0_name(EVP_PKEY_get0_provider(own)), sizeof properties);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, properties);
    const EVP_MD *hash = length == 48 ? EVP_sha384() : length == 64 ? EVP_sha512() : EVP_sha256();
    size_t count = (size_t)ECDSA_size(key);
    int done = context != NULL && EVP_PKEY_sign_init(context) == 1
        && EVP_PKEY_CTX_set_signature_md(context, hash) == 1
        && EVP_PKEY_sign(context, signature, &count, digest, (size_t)length) == 1;
    EVP_PKEY_CTX_free(context);
    *size = (unsigned int)count;
    return done;
}

static inline void saker_foreign_free(void *key, void *own, CRYPTO_EX_DATA *data, int index, long word, void *pointer) {
    EVP_PKEY_free((EVP_PKEY *)own);
}

static inline void saker_foreign_begin(void) {
    saker_foreign_state *state = saker_foreign();
    state->index = EC_KEY_get_ex_new_index(0, NULL, NULL, NULL, saker_foreign_free);
    state->method = EC_KEY_METHOD_new(EC_KEY_OpenSSL());
    if (state->method != NULL) EC_KEY_METHOD_set_sign(state->method, saker_foreign_sign, NULL, NULL);
}

/// A key that signs with its own provider, whatever OpenSSL would choose. Takes the key, and returns NULL when there is no
/// memory.
///
/// OpenSSL 3.0 signs with the first provider that takes the key, and the default one takes the public half of a key in a
/// TPM. A property query for the whole connection would also let the TPM make the ephemeral keys and check the server's
/// certificate. So only EC keys of another provider are replaced: by their public half, with a method that signs there.
static inline EVP_PKEY *saker_signing_key(EVP_PKEY *key) {
    const OSSL_PROVIDER *provider = key == NULL ? NULL : EVP_PKEY_get0_provider(key);
    if (provider == NULL || !EVP_PKEY_is_a(key, "EC") || strcmp(OSSL_PROVIDER_get0_name(provider), "default") == 0) return key;
    saker_foreign_state *state = saker_foreign();
    unsigned char *bytes = NULL;
    int count = i2d_PUBKEY(key, &bytes);
    const unsigned char *at = bytes;
    EC_KEY *half = count > 0 ? d2i_EC_PUBKEY(NULL, &at, count) : NULL;
    EVP_PKEY *made = EVP_PKEY_new();
    OPENSSL_free(bytes);
    if (half == NULL || made == NULL || CRYPTO_THREAD_run_once(&state->once, saker_foreign_begin) != 1
        || state->method == NULL || EC_KEY_set_method(half, state->method) != 1
        || EC_KEY_set_ex_data(half, state->index, key) != 1) {
        EVP_PKEY_free(key);
    } else if (EVP_PKEY_assign_EC_KEY(made, half) == 1) {
        return made;
    }
    EC_KEY_free(half);
    EVP_PKEY_free(made);
    return NULL;
}

#pragma GCC diagnostic pop

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
