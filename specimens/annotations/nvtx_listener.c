/* A tool that listens to NVTX, as Nsight Systems does: it writes a line for each call to $HEARD. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union { uint64_t whole; double real; } payload;
    int32_t message_type;
    union { const char *text; void *registered; } message;
} Attributes;

typedef struct {
    size_t size;
    int (*find)(int module, void ****table, unsigned *count);
} Callbacks;

enum { CALLBACKS = 1, CORE2 = 5 };
enum { MARK = 1, START = 2, END = 3, PUSH = 4, POP = 5, REGISTER = 10, CREATE = 12 };

static FILE *heard;

static int said(const char *call, void *domain, const Attributes *given) {
    const char *name = given->message_type == 3 ? given->message.registered : given->message.text;
    double payload = given->payload_type == 3 ? given->payload.real : (double)given->payload.whole;
    fprintf(heard, "%s %s %s %08x %g\n", call, domain ? (char *)domain : "-", name,
            given->color_type ? given->color : 0, given->payload_type ? payload : 0.0);
    return fflush(heard);
}

static void mark(void *domain, const Attributes *given) { said("mark", domain, given); }
static uint64_t start(void *domain, const Attributes *given) { return said("start", domain, given), 7; }
static void end(void *domain, uint64_t number) { fprintf(heard, "end %d\n", (int)number); fflush(heard); }
static int push(void *domain, const Attributes *given) { return said("push", domain, given); }
static int pop(void *domain) { fprintf(heard, "pop %s\n", (char *)domain); return fflush(heard); }
static void *copy(const char *text) { char *own = malloc(1000); snprintf(own, 1000, "%s", text); return own; }
static void *enroll(void *domain, const char *text) { (void)domain; return copy(text); }
static void *create(const char *name) { return copy(name); }

int InitializeInjectionNvtx2(const void *(*table_of)(uint32_t)) {
    const Callbacks *callbacks = table_of(CALLBACKS);
    void ***table;
    unsigned count;
    heard = fopen(getenv("HEARD"), "a");
    if (!heard || !callbacks->find(CORE2, &table, &count)) return 0;
    *table[MARK] = (void *)mark;
    *table[START] = (void *)start;
    *table[END] = (void *)end;
    *table[PUSH] = (void *)push;
    *table[POP] = (void *)pop;
    *table[REGISTER] = (void *)enroll;
    *table[CREATE] = (void *)create;
    return 1;
}
