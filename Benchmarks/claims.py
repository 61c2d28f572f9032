#!/usr/bin/env python3
"""Many vehicles of one image claim their certificates: a key of P-256 and a request (PKCS #10) for each, a TLS connection for
each, against a real saker-server, as fast as the server lets them in.

    claims.py FOLDER LINE_OF_TOKEN PORT CLAIMS [SERVER_PID]

FOLDER has ca.pem. A claim that is told to wait (429, Retry-After) waits as long and asks again, as `saker enroll` does. The claims
come from several addresses of the loopback, because one address gets at most half of a token's turns.
Prints one line of JSON.
"""
import base64
import concurrent.futures
import ctypes
import ctypes.util
import hashlib
import http.client
import json
import random
import ssl
import sys
import threading
import time

crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
for name in ("EVP_PKEY_Q_keygen", "X509_REQ_new", "BIO_new", "BIO_s_mem", "EVP_sha256",
             "X509_REQ_get_subject_name"):
    getattr(crypto, name).restype = ctypes.c_void_p
SOURCES = ["127.0.0.%d" % last for last in range(10, 18)]
WORKERS = 32


def pointer(value):
    return ctypes.c_void_p(value)


def certificate_request():
    """A new key of P-256, and a request that it has signed, in PEM."""
    key = crypto.EVP_PKEY_Q_keygen(None, None, b"EC", b"P-256")
    request = crypto.X509_REQ_new()
    bio = crypto.BIO_new(pointer(crypto.BIO_s_mem()))
    try:
        assert key and request and bio
        assert crypto.X509_REQ_set_version(pointer(request), ctypes.c_long(0)) == 1
        name = pointer(crypto.X509_REQ_get_subject_name(pointer(request)))
        assert crypto.X509_NAME_add_entry_by_txt(name, b"CN", 0x1000, b"saker", -1, -1, 0) == 1
        assert crypto.X509_REQ_set_pubkey(pointer(request), pointer(key)) == 1
        assert crypto.X509_REQ_sign(pointer(request), pointer(key), pointer(crypto.EVP_sha256())) > 0
        assert crypto.PEM_write_bio_X509_REQ(pointer(bio), pointer(request)) == 1
        text = ctypes.create_string_buffer(4096)
        length = crypto.BIO_read(pointer(bio), text, len(text))
        return text.raw[:length].decode()
    finally:
        crypto.BIO_free(pointer(bio))
        crypto.X509_REQ_free(pointer(request))
        crypto.EVP_PKEY_free(pointer(key))


class Run:
    def __init__(self, folder, token, port):
        self.token, self.port = token, port
        self.tls = ssl.create_default_context(cafile=folder + "/ca.pem")
        self.lock = threading.Lock()
        self.answers, self.waits, self.took = {}, 0, []

    def claim(self, number):
        """Asks until there is an answer. Returns the answer's status and what it says."""
        request = certificate_request()
        machine = hashlib.sha256(b"%d" % number).hexdigest()
        body = {"token": self.token, "request": request, "serial": "SN%06d" % number, "machine": machine}
        while True:
            began = time.monotonic()
            # A connection for each try: boxes share none.
            connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=120, context=self.tls,
                source_address=(SOURCES[number % len(SOURCES)], 0))
            try:
                connection.request(
                    "POST", "/enrol/v1/claim", json.dumps(body), {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = json.loads(answer.read())
            finally:
                connection.close()
            if answer.status not in (429, 503):
                with self.lock:
                    self.took.append(time.monotonic() - began)
                    what = text.get("status") if answer.status == 200 else text.get("code", text)
                    self.answers[str(what)] = self.answers.get(str(what), 0) + 1
                return answer.status, text
            with self.lock:
                self.waits += 1
            time.sleep(float(answer.getheader("Retry-After") or 1) + random.random())


def token_of(line):
    """The token in an enrolment line: its fields are a tag, a length of two bytes and a value, and the token has tag 9."""
    text = line.removeprefix("saker2:")
    fields = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))[2:-4]
    while fields:
        length = int.from_bytes(fields[1:3], "big")
        if fields[0] == 9:
            return fields[3:3 + length].decode()
        fields = fields[3 + length:]
    raise SystemExit("claims.py: the line has no token")


def resident(pid, kind):
    with open("/proc/%s/status" % pid, encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(kind)), 0) // 1024


def main():
    folder, token, port, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    pid = sys.argv[5] if len(sys.argv) > 5 else None
    run = Run(folder, token_of(token), port)
    before = resident(pid, "VmRSS") if pid else None
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        results = list(workers.map(run.claim, range(count)))
    seconds = time.monotonic() - began
    issued = [text for status, text in results if status == 200]
    took = sorted(run.took)
    report = {
        "claims": count, "answers": run.answers, "seconds": round(seconds, 1), "claims_per_second": round(count / seconds, 1),
        "told_to_wait": run.waits, "devices": len({text["device"] for text in issued}),
        "entities": len({text["entity"] for text in issued}), "answer_ms_half": round(took[len(took) // 2] * 1000, 1),
        "answer_ms_99": round(took[len(took) * 99 // 100] * 1000, 1),
    }
    if pid:
        report.update(
            server_mib_before=before, server_mib_after=resident(pid, "VmRSS"), server_mib_peak=resident(pid, "VmHWM"))
    print(json.dumps(report))


main()
