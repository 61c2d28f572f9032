// How fast GEOS finds the polygons that a point is in, with a tree of boxes and prepared polygons: the counterpart of
// `saker-bench fences speed`, on the same polygons and points (see FenceExport). It answers less: no state, no crossing.
// Both must find each point in the same polygons.
//   fences-geos FILE NAME
#include <geos_c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static double seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6;
}

static void get(FILE *file, void *to, size_t size) {
    if (fread(to, 1, size, file) == size) return;
    fprintf(stderr, "fences-geos: the file ends too early\n");
    exit(1);
}

struct polygon {
    const GEOSPreparedGeometry *shape;
    uint64_t mark;
};

struct query {
    const GEOSGeometry *point;
    long found;
    uint64_t verdict;
};

static void visit(void *item, void *user) {
    const struct polygon *polygon = item;
    struct query *query = user;
    if (!GEOSPreparedIntersects(polygon->shape, query->point)) return;
    query->found++;
    query->verdict += polygon->mark;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "fences-geos: give FILE and NAME\n");
        return 2;
    }
    FILE *file = fopen(arguments[1], "rb");
    if (!file) {
        perror(arguments[1]);
        return 1;
    }
    initGEOS(NULL, NULL);
    uint64_t polygons, vertices, points, verdict;
    double x, y;
    get(file, &polygons, sizeof polygons);
    GEOSSTRtree *tree = GEOSSTRtree_create(16);
    double start = seconds();
    for (uint64_t polygon = 0; polygon < polygons; polygon++) {
        get(file, &vertices, sizeof vertices);
        GEOSCoordSequence *ring = GEOSCoordSeq_create(vertices + 1, 2);
        for (uint64_t vertex = 0; vertex < vertices; vertex++) {
            get(file, &x, sizeof x);
            get(file, &y, sizeof y);
            GEOSCoordSeq_setXY(ring, vertex, x, y);
            if (vertex == 0) GEOSCoordSeq_setXY(ring, vertices, x, y);
        }
        GEOSGeometry *shape = GEOSGeom_createPolygon(GEOSGeom_createLinearRing(ring), NULL, 0);
        struct polygon *item = malloc(sizeof *item);
        if (!item) return 1;
        item->shape = GEOSPrepare(shape);
        item->mark = (polygon + 1) * UINT64_C(0x9E3779B97F4A7C15);
        GEOSSTRtree_insert(tree, shape, item);
    }
    double built = seconds();
    get(file, &points, sizeof points);
    struct query query = {NULL, 0, 0};
    long differing = 0;
    double spent = 0;
    // The first round builds the tree and prepares the polygons; the second one counts.
    long place = ftell(file);
    for (int round = 0; round < 2; round++) {
        fseek(file, place, SEEK_SET);
        query.found = differing = 0;
        double begin = seconds();
        for (uint64_t point = 0; point < points; point++) {
            get(file, &x, sizeof x);
            get(file, &y, sizeof y);
            get(file, &verdict, sizeof verdict);
            query.verdict = 0;
            GEOSGeometry *where = GEOSGeom_createPointFromXY(x, y);
            query.point = where;
            GEOSSTRtree_query(tree, where, visit, &query);
            GEOSGeom_destroy(where);
            if (query.verdict != verdict) differing++;
        }
        spent = seconds() - begin;
    }
    printf("%s.geos\t%.0f\tpoints a CPU second, GEOS %s, inside or not\n", arguments[2], points / spent, GEOSversion());
    printf("%s.geos.inside\t%.3f\tpolygons around a point\n", arguments[2], (double)query.found / points);
    printf("%s.geos.build\t%.0f\tms of CPU, without preparing\n", arguments[2], (built - start) * 1000);
    printf("%s.geos.differing\t%ld\tof %lu points that Saker finds in other polygons\n", arguments[2], differing,
           (unsigned long)points);
    return differing == 0 ? 0 : 1;
}
