/* A worker of a queue: reads jobs as lines, runs them by priority, prints what came of them. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LOW, NORMAL, HIGH, LEVELS };

struct job {
    struct job *next;
    char *name;
    int level;
    unsigned long cost;
};

struct queue {
    struct job *first[LEVELS];
    struct job **last[LEVELS];
    size_t length;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static void queue_init(struct queue *queue)
{
    for (int level = 0; level < LEVELS; level++) {
        queue->first[level] = NULL;
        queue->last[level] = &queue->first[level];
    }
    queue->length = 0;
}

static int queue_put(struct queue *queue, const char *name, int level, unsigned long cost)
{
    struct job *job = malloc(sizeof *job);
    if (job == NULL)
        return -ENOMEM;
    job->name = strdup(name);
    if (job->name == NULL) {
        free(job);
        return -ENOMEM;
    }
    job->next = NULL;
    job->level = level;
    job->cost = cost;
    *queue->last[level] = job;
    queue->last[level] = &job->next;
    queue->length++;
    return 0;
}

static struct job *queue_take(struct queue *queue)
{
    for (int level = HIGH; level >= LOW; level--) {
        struct job *job = queue->first[level];
        if (job == NULL)
            continue;
        queue->first[level] = job->next;
        if (job->next == NULL)
            queue->last[level] = &queue->first[level];
        queue->length--;
        return job;
    }
    return NULL;
}

static int level_of(const char *word)
{
    static const char *const names[] = { "low", "normal", "high" };
    for (int level = 0; level < LEVELS; level++)
        if (strcmp(word, names[level]) == 0)
            return level;
    return -1;
}

static unsigned long fifth_cost(const unsigned long *costs, int count)
{
    unsigned long found;

    if (count > 4)
        found = costs[4];
    for (int index = 0; index < count; index++) {
        if (index == 4)
            return found;
    }
    return 0;
}

static int parse(struct queue *queue, char *line)
{
    char *end, *save = NULL;
    char *name = strtok_r(line, " \t\n", &save);
    char *word = strtok_r(NULL, " \t\n", &save);
    char *number = strtok_r(NULL, " \t\n", &save);
    if (name == NULL || word == NULL || number == NULL)
        return -EINVAL;
    for (char *letter = word; *letter; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    int level = level_of(word);
    unsigned long cost = strtoul(number, &end, 10);
    if (level < 0 || *end != '\0')
        return -EINVAL;
    return queue_put(queue, name, level, cost);
}

static double seconds(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

static uint64_t run(const struct job *job)
{
    uint64_t state = job->cost ^ UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned long round = 0; round < job->cost && !stopped; round++)
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return state;
}

int main(int count, char **words)
{
    char line[256];
    unsigned long costs[16];
    int known = 0;
    struct queue queue;
    struct job *job;

    if (count > 1) {
        fprintf(stderr, "usage: %s < JOBS\n", words[0]);
        return EXIT_FAILURE;
    }
    signal(SIGINT, stop);
    queue_init(&queue);
    while (fgets(line, sizeof line, stdin) != NULL) {
        int error = parse(&queue, line);
        if (error)
            fprintf(stderr, "%s: %s\n", words[0], strerror(-error));
    }
    double start = seconds();
    while (!stopped && (job = queue_take(&queue)) != NULL) {
        printf("%s %d %016llx\n", job->name, job->level, (unsigned long long)run(job));
        if (known < 16)
            costs[known++] = job->cost;
        free(job->name);
        free(job);
    }
    printf("%.3f s, %lu\n", seconds() - start, fifth_cost(costs, known));
    return stopped ? EXIT_FAILURE : EXIT_SUCCESS;
}
