/* Drives links as a C host would, and calls every function wrongly. `program` runs the checks;
 * `program fates SCENARIO SEED GAP_NS SIZE COUNT` prints what became of each packet:
 * number, fate (0 delivered, 1 lost, 2 dropped, 3 on the way), time.
 * `program replay SCENARIO DIRECTION < log` sends what a host's log says arrived over the whole way in
 * the direction (0 there, 1 back), and prints what the host should have written. */
#include "clift.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                                      \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
            failures++;                                                                       \
        }                                                                                     \
    } while (0)

static const char *const ARQ = "duration = \"20 s\"\nscheme = \"ARQ\"\n"
                               "[channel]\nmodel = \"bernoulli\"\nerasures = \"5 %\"\n"
                               "rate = \"1 Mbit/s\"\nlldu = \"250 B\"\n"
                               "[link]\nrtt = \"60 ms\"\nqueue = \"8 packets\"\n";
static const char *const STREAMS = "duration = \"20 s\"\nscheme = \"ARQ\"\n"
                                   "[channel]\nmodel = \"bernoulli\"\nerasures = \"5 %\"\n"
                                   "rate = \"1 Mbit/s\"\nlldu = \"250 B\"\n"
                                   "[link]\nrtt = \"60 ms\"\nreorder = { key = \"tcp\" }\n";

/* Takes an error that must hold `part`. */
static void wrong(char *error, const char *part)
{
    CHECK(error != NULL);
    if (error != NULL && strstr(error, part) == NULL) {
        fprintf(stderr, "expected `%s` in `%s`\n", part, error);
        failures++;
    }
    CHECK(error == NULL || strchr(error, '\n') == NULL);
    clift_string_free(error);
}

struct fates {
    uint8_t *kind;
    uint64_t *at;
    uint64_t departed;
};

static void poll_all(clift_link *link, uint64_t now, struct fates *fates)
{
    clift_event event;
    uint64_t last = 0;
    while (clift_link_poll(link, now, &event) == 1) {
        CHECK(event.at_ns <= now && event.at_ns >= last && event.pad == 0);
        last = event.at_ns;
        if (event.kind == CLIFT_DELIVERED || event.kind == CLIFT_LOST) {
            CHECK(fates->kind[event.packet] == 3);
            fates->kind[event.packet] = (uint8_t)event.kind;
            fates->at[event.packet] = event.at_ns;
        } else if (event.kind == CLIFT_DEPARTED) {
            fates->departed++;
        }
    }
    CHECK(clift_link_next(link) > now);
}

/* Sends packets a fixed time apart and polls the link whenever it asks for it. */
static struct fates drive(clift_link *link, uint64_t gap, uint32_t size, uint64_t count)
{
    struct fates fates = {malloc(count), calloc(count, sizeof(uint64_t)), 0};
    memset(fates.kind, 3, count);
    for (uint64_t packet = 0; packet < count; packet++) {
        uint64_t now = packet * gap, next;
        while ((next = clift_link_next(link)) <= now) poll_all(link, next, &fates);
        int room = clift_link_room(link, now, size);
        int taken = clift_link_enqueue(link, now, packet, size);
        CHECK(taken != CLIFT_WRONG);
        CHECK(taken == CLIFT_QUEUED ? room == 1 : 1);
        if (taken != CLIFT_QUEUED) fates.kind[packet] = 2, fates.at[packet] = now;
    }
    for (uint64_t next; (next = clift_link_next(link)) != CLIFT_NEVER;) poll_all(link, next, &fates);
    return fates;
}

static void free_fates(struct fates fates)
{
    free(fates.kind);
    free(fates.at);
}

static void a_link_is_driven(void)
{
    char *error = NULL;
    clift_link *link = clift_link_new_text(ARQ, NULL, 7, &error);
    CHECK(link != NULL && error == NULL);
    CHECK(clift_link_next(link) == CLIFT_NEVER && clift_link_reads_streams(link) == 0);
    enum { COUNT = 1500 };
    struct fates fates = drive(link, 9000000, 1000, COUNT);
    uint64_t of[4] = {0};
    for (int packet = 0; packet < COUNT; packet++) of[fates.kind[packet]]++;
    CHECK(of[0] > COUNT / 2 && of[3] == 0);
    clift_counters counters;
    CHECK(clift_link_counters(link, 0, &counters) == 0);
    CHECK(counters.offered == COUNT && counters.delivered == of[0] && counters.lost == of[1]);
    CHECK(counters.dropped == of[2] && counters.waiting == 0 && counters.bytes_delivered == 1000 * of[0]);
    CHECK(fates.departed == of[0] + of[1]);
    CHECK(counters.slots_used > 0 && counters.slots_used <= counters.slots);
    char *report = clift_link_report(link, 0);
    CHECK(report != NULL && strstr(report, "\"offered\":1500") != NULL);
    clift_string_free(report);
    /* The same seed gives the same, another one something else. */
    clift_link *again = clift_link_new_text(ARQ, NULL, 7, NULL);
    clift_link *other = clift_link_new_text(ARQ, NULL, 8, NULL);
    struct fates same = drive(again, 9000000, 1000, COUNT), differs = drive(other, 9000000, 1000, COUNT);
    CHECK(memcmp(fates.at, same.at, COUNT * sizeof(uint64_t)) == 0);
    CHECK(memcmp(fates.at, differs.at, COUNT * sizeof(uint64_t)) != 0);
    free_fates(fates), free_fates(same), free_fates(differs);
    clift_link_free(link), clift_link_free(again), clift_link_free(other);
}

static void a_queue_says_when_there_is_room(void)
{
    clift_link *link = clift_link_new_text(ARQ, NULL, 7, NULL);
    uint64_t packet = 0;
    while (clift_link_enqueue(link, 5, packet, 1000) == CLIFT_QUEUED) packet++;
    CHECK(packet >= 8 && clift_link_room(link, 5, 1000) == 0);
    clift_event event = {9, 9, 9, 9};
    uint64_t next = clift_link_next(link);
    while (clift_link_poll(link, next, &event) == 0) next = clift_link_next(link);
    CHECK(event.kind == CLIFT_DEPARTED && clift_link_room(link, next, 1000) == 1);
    clift_link_free(link);
}

static void what_is_wrong_is_told(void)
{
    char *error = NULL;
    CHECK(clift_link_new("/nowhere/x.toml", 1, &error) == NULL);
    wrong(error, "/nowhere/x.toml: cannot be read");
    CHECK(clift_link_new(NULL, 1, &error) == NULL);
    wrong(error, "the path is null");
    CHECK(clift_link_new("/nowhere/x.toml", 1, NULL) == NULL);
    CHECK(clift_link_new_text("[link]\nrat = 1\n", NULL, 1, &error) == NULL);
    wrong(error, "link.rat: unknown key");
    CHECK(clift_link_new_text("\xff\xfe", NULL, 1, &error) == NULL);
    wrong(error, "not UTF-8");
    CHECK(clift_link_new_text("[[path]]\nleg = { delay = \"5 ms\" }\n", NULL, 1, &error) == NULL);
    wrong(error, "0 links");
    CHECK(clift_link_new_text("[trace]\nfile = \"nowhere.csv\"\n", "/nowhere", 1, &error) == NULL);
    wrong(error, "/nowhere/nowhere.csv");
    clift_link *link = clift_link_new_text(ARQ, NULL, 7, &error);
    CHECK(error == NULL && clift_link_error(link) == NULL);
    CHECK(clift_link_enqueue(link, 100, 0, 1000) == CLIFT_QUEUED);
    CHECK(clift_link_enqueue(link, 99, 1, 1000) == CLIFT_WRONG);
    CHECK(strstr(clift_link_error(link), "time went back") != NULL);
    CHECK(clift_link_enqueue(link, 100, 1, 0) == CLIFT_WRONG);
    CHECK(clift_link_enqueue(link, 100, 1, UINT32_MAX) == CLIFT_WRONG);
    CHECK(strstr(clift_link_error(link), "1 to 65575 bytes") != NULL);
    CHECK(clift_link_enqueue(link, 100, 0, 1000) == CLIFT_WRONG);
    CHECK(strstr(clift_link_error(link), "packet 0 is on the link already") != NULL);
    CHECK(clift_link_enqueue(link, 29000000000u, 1, 1000) == CLIFT_WRONG);
    CHECK(strstr(clift_link_error(link), "poll it first") != NULL);
    CHECK(clift_link_room(link, 29000000000u, 1000) == CLIFT_WRONG);
    CHECK(clift_link_enqueue_in(link, 100, 1, 100, 1ull << 40, 0, 5) == CLIFT_WRONG);
    CHECK(clift_link_enqueue_in(link, 100, 1, 100, 0, 5, 4) == CLIFT_WRONG);
    CHECK(clift_link_poll(link, 100, NULL) == CLIFT_WRONG);
    CHECK(clift_link_counters(link, 100, NULL) == CLIFT_WRONG);
    CHECK(clift_link_enqueue(link, 100, 1, 1000) == CLIFT_QUEUED && clift_link_error(link) == NULL);
    /* The far end of time is no undefined behaviour. */
    clift_event event;
    while (clift_link_poll(link, UINT64_MAX - 1, &event) == 1) {}
    /* A number is free again once the packet's fate was polled. */
    CHECK(clift_link_enqueue(link, UINT64_MAX - 1, 0, 1000) != CLIFT_WRONG);
    CHECK(clift_link_enqueue(link, UINT64_MAX - 1, 3, 1000) != 17);
    clift_link_free(link);
    link = clift_link_new_text(STREAMS, NULL, 7, &error);
    CHECK(clift_link_reads_streams(link) == 1);
    CHECK(clift_link_enqueue(link, 1, 0, 1000) == CLIFT_WRONG);
    CHECK(strstr(clift_link_error(link), "clift_link_enqueue_in") != NULL);
    CHECK(clift_link_enqueue_in(link, 1, 0, 1000, 0, 0, 948) == CLIFT_QUEUED);
    CHECK(clift_link_enqueue_in(link, 1, 1, 40, 0, 0, 0) == CLIFT_QUEUED);
    clift_link_free(link);
    clift_counters counters;
    CHECK(clift_link_enqueue(NULL, 0, 0, 1) == CLIFT_WRONG && clift_link_next(NULL) == CLIFT_NEVER);
    CHECK(clift_link_poll(NULL, 0, &event) == CLIFT_WRONG && clift_link_room(NULL, 0, 1) == CLIFT_WRONG);
    CHECK(clift_link_counters(NULL, 0, &counters) == CLIFT_WRONG && clift_link_report(NULL, 0) == NULL);
    CHECK(clift_link_error(NULL) == NULL && clift_link_reads_streams(NULL) == CLIFT_WRONG);
    clift_link_free(NULL), clift_scenario_free(NULL), clift_string_free(NULL);
}

static void a_scenario_gives_hops_and_both_ways(void)
{
    char *error = NULL;
    clift_scenario *scenario = clift_scenario_parse(
        "seed = 3\n[[path]]\nleg = { rate = \"8 Mbit/s\", delay = \"5 ms\" }\n[[path]]\n"
        "channel = { model = \"bernoulli\", erasures = 0, rate = \"1 Mbit/s\", lldu = \"250 B\" }\n"
        "link = { rtt = \"60 ms\" }\n[vary]\nduration = [\"5 s\", \"6 s\"]\n",
        NULL, &error);
    CHECK(scenario != NULL && error == NULL);
    CHECK(clift_scenario_hops(scenario, CLIFT_FORWARD, &error) == -1);
    wrong(error, "has 2 cells");
    CHECK(clift_scenario_set(scenario, "no.such", "1", &error) == -1);
    wrong(error, "no");
    CHECK(clift_scenario_set(scenario, "duration", "6 s", &error) == 0 && error == NULL);
    CHECK(clift_scenario_hops(scenario, CLIFT_FORWARD, &error) == 2);
    CHECK(clift_scenario_hops(scenario, CLIFT_BACKWARD, &error) == 1);
    CHECK(clift_scenario_hops(scenario, 7, &error) == -1);
    wrong(error, "unknown direction 7");
    CHECK(clift_scenario_link(scenario, NULL, CLIFT_FORWARD, 2, &error) == NULL);
    wrong(error, "hop 2 does not exist");
    clift_link *leg = clift_scenario_link(scenario, NULL, CLIFT_FORWARD, 0, &error);
    clift_link *way = clift_scenario_way(scenario, NULL, CLIFT_FORWARD, &error);
    clift_link *back = clift_scenario_way(scenario, &(uint64_t){9}, CLIFT_BACKWARD, &error);
    CHECK(leg != NULL && way != NULL && back != NULL && error == NULL);
    clift_scenario_free(scenario);
    CHECK(clift_link_enqueue(leg, 0, 1, 1000) == CLIFT_QUEUED);
    clift_event event;
    CHECK(clift_link_poll(leg, 6000000, &event) == 1 && event.kind == CLIFT_DEPARTED);
    CHECK(clift_link_poll(leg, 6000000, &event) == 1 && event.kind == CLIFT_DELIVERED);
    CHECK(event.at_ns == 6000000 && event.packet == 1);
    CHECK(clift_link_enqueue(back, 0, 5, 40) == CLIFT_QUEUED);
    uint64_t arrival = 0;
    for (uint64_t next; (next = clift_link_next(back)) != CLIFT_NEVER;)
        while (clift_link_poll(back, next, &event) == 1)
            if (event.kind == CLIFT_DELIVERED) arrival = event.at_ns;
    CHECK(arrival == 35000000); /* the leg's delay and half the round trip */
    clift_link_free(leg), clift_link_free(way), clift_link_free(back);
}

/* Both ways by the forward path of one scenario: with the same seed, draws of their own. */
static void the_reverse_way_draws_anew(void)
{
    enum { COUNT = 1500 };
    clift_scenario *scenario = clift_scenario_parse(ARQ, NULL, NULL);
    struct fates fates[4];
    static const uint32_t directions[4] = {CLIFT_FORWARD, CLIFT_REVERSE, CLIFT_REVERSE, CLIFT_REVERSE};
    for (int i = 0; i < 4; i++) {
        uint64_t seed = i < 3 ? 7 : 8;
        clift_link *link = clift_scenario_way(scenario, &seed, directions[i], NULL);
        CHECK(link != NULL);
        fates[i] = drive(link, 9000000, 1000, COUNT);
        clift_link_free(link);
    }
    CHECK(memcmp(fates[0].at, fates[1].at, COUNT * sizeof(uint64_t)) != 0);
    CHECK(memcmp(fates[1].at, fates[2].at, COUNT * sizeof(uint64_t)) == 0);
    CHECK(memcmp(fates[1].at, fates[3].at, COUNT * sizeof(uint64_t)) != 0);
    for (int i = 0; i < 4; i++) free_fates(fates[i]);
    clift_scenario_free(scenario);
}

static void print_events(clift_link *link, uint64_t now)
{
    static const char *const kinds[] = {"delivered", "lost", "departed", "ended"};
    clift_event event;
    while (clift_link_poll(link, now, &event) == 1)
        printf("%s %" PRIu64 " %" PRIu64 "\n", kinds[event.kind], event.packet, event.at_ns);
}

static int replay(const char *path, uint32_t direction)
{
    char *error = NULL, line[256];
    clift_scenario *scenario = clift_scenario_open(path, &error);
    clift_link *link = scenario ? clift_scenario_way(scenario, NULL, direction, &error) : NULL;
    clift_scenario_free(scenario);
    if (link == NULL) {
        fprintf(stderr, "error: %s\n", error);
        clift_string_free(error);
        return 2;
    }
    uint64_t packet, now, flow, first, end, next;
    uint32_t bytes;
    int taken;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "arrival %" SCNu64 " %" SCNu64 " %" SCNu32 " %d %" SCNu64 " %" SCNu64 " %" SCNu64,
                   &packet, &now, &bytes, &taken, &flow, &first, &end) != 7)
            continue;
        while ((next = clift_link_next(link)) <= now) print_events(link, next);
        taken = clift_link_enqueue_in(link, now, packet, bytes, flow, first, end);
        printf("arrival %" PRIu64 " %" PRIu64 " %" PRIu32 " %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", packet,
               now, bytes, taken, flow, first, end);
    }
    while ((next = clift_link_next(link)) != CLIFT_NEVER) print_events(link, next);
    clift_link_free(link);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "replay") == 0) return replay(argv[2], (uint32_t)atoi(argv[3]));
    if (argc == 7 && strcmp(argv[1], "fates") == 0) {
        char *error = NULL;
        clift_link *link = clift_link_new(argv[2], strtoull(argv[3], NULL, 10), &error);
        if (link == NULL) {
            fprintf(stderr, "error: %s\n", error);
            clift_string_free(error);
            return 2;
        }
        uint64_t count = strtoull(argv[6], NULL, 10);
        struct fates fates = drive(link, strtoull(argv[4], NULL, 10), (uint32_t)atoi(argv[5]), count);
        for (uint64_t packet = 0; packet < count; packet++)
            printf("%" PRIu64 " %d %" PRIu64 "\n", packet, fates.kind[packet], fates.at[packet]);
        free_fates(fates);
        clift_link_free(link);
        return failures != 0;
    }
    CHECK(clift_abi() == CLIFT_ABI && strchr(clift_version(), '.') != NULL);
    a_link_is_driven();
    a_queue_says_when_there_is_room();
    what_is_wrong_is_told();
    a_scenario_gives_hops_and_both_ways();
    the_reverse_way_draws_anew();
    if (failures == 0) puts("all checks passed");
    return failures != 0;
}
