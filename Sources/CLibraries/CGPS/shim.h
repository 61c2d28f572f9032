// The door to libgps: one line of gpsd's JSON goes in, plain numbers come out.
//
// libgps can also read sockets (gps_open, gps_read). But it connects without a deadline, and it can loop for ever on a
// line that it cannot parse. So the owner of this door keeps the socket and checks the line, and libgps only parses
// gpsd's messages. gps_unpack(3) documents this use.
#ifndef SAKER_CGPS_SHIM_H
#define SAKER_CGPS_SHIM_H

#if !__has_include(<gps.h>)
#error "gps.h is missing: install libgps-dev 3.22 or newer"
#endif

#include <gps.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if !defined(GPSD_API_MAJOR_VERSION) || GPSD_API_MAJOR_VERSION < 11
#error "this libgps is too old: install libgps-dev 3.22 or newer (GPSD_API_MAJOR_VERSION 11 or higher)"
#endif

/// The content of one TPV. An unknown number is NaN; an unknown `status` or `mode` is 0.
struct saker_gps_position {
    /// Seconds since 1970, UTC.
    int64_t time_seconds;
    int64_t time_nanoseconds;
    bool has_time;
    int32_t mode;
    int32_t status;
    double latitude_degrees;
    double longitude_degrees;
    /// Metres above mean sea level.
    double altitude_metres;
    double speed_metres_per_second;
    /// From true north.
    double course_degrees;
    /// gpsd's `eph`.
    double horizontal_error_metres;
};

/// A zeroed session without a socket, or null. Free it with saker_gps_free.
static inline struct gps_data_t *saker_gps_new(void) {
    return (struct gps_data_t *)calloc(1, sizeof(struct gps_data_t));
}

static inline void saker_gps_free(struct gps_data_t *session) {
    free(session);
}

/// Decodes one NUL-terminated JSON object. First wipes everything of an earlier line: libgps resets the fields that a
/// line does not have, but not those behind a place that it cannot parse.
static inline void saker_gps_decode(struct gps_data_t *session, char *line) {
    memset(session, 0, sizeof(*session));
    gps_clear_fix(&session->fix);
    session->satellites_used = -1;
    (void)gps_unpack(line, session);
}

/// Valid after decoding a TPV.
static inline struct saker_gps_position saker_gps_position_of(const struct gps_data_t *session) {
    struct saker_gps_position position = {
        .time_seconds = (int64_t)session->fix.time.tv_sec,
        .time_nanoseconds = (int64_t)session->fix.time.tv_nsec,
        .has_time = 0 != (session->set & TIME_SET),
        .mode = session->fix.mode,
        .status = session->fix.status,
        .latitude_degrees = session->fix.latitude,
        .longitude_degrees = session->fix.longitude,
        // gpsd before 3.20 tells `alt` alone, and means the height above mean sea level. Later ones mean anything by it.
        .altitude_metres = isfinite(session->fix.altMSL) || isfinite(session->fix.altHAE)
            ? session->fix.altMSL : session->fix.altitude,
        .speed_metres_per_second = session->fix.speed,
        .course_degrees = session->fix.track,
        .horizontal_error_metres = session->fix.eph,
    };
    return position;
}

/// Valid after decoding a SKY that has a list of satellites; -1 when the list could not be parsed. For a SKY without a
/// list, which gpsd also sends, libgps 3.22 returns 0. So the caller must know that there was a list.
static inline int32_t saker_gps_satellites_used(const struct gps_data_t *session) {
    return session->satellites_used;
}

/// The device of a TPV, SKY or DEVICE; empty when unknown. Belongs to the session, until the next decode.
static inline const char *saker_gps_device_path(const struct gps_data_t *session) {
    return session->dev.path;
}

/// Valid after decoding a DEVICE: whether gpsd has opened the device.
static inline bool saker_gps_device_is_active(const struct gps_data_t *session) {
    return 0 != session->dev.activated.tv_sec || 0 != session->dev.activated.tv_nsec;
}

/// The text of an ERROR; empty after anything else. Belongs to the session, until the next decode.
static inline const char *saker_gps_error_text(const struct gps_data_t *session) {
    return 0 != (session->set & ERROR_SET) ? session->error : "";
}

/// gpsd's release, after decoding a VERSION; empty after anything else. Belongs to the session, until the next decode.
static inline const char *saker_gps_release(const struct gps_data_t *session) {
    return 0 != (session->set & VERSION_SET) ? session->version.release : "";
}

#endif
