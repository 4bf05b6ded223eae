/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trainer's numerics against an oracle written here: a token-by-token forward of the whole
 * model, its finite differences, and the same step spread over ranks in many layouts, whose loss
 * and gradients must be those of one rank. Built with TRAINER_DOUBLE. Ranks are threads; what they
 * share is written between barriers only.
 */
#include "model.h"

#include <cblas.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HIDDEN = 8, HEADS = 2, DIM = 4, INNER = HEADS * DIM, MLP = 12, VOCAB = 16, TAPS = 4 };
enum { LONGEST = 192, MOST_RANKS = 4, LAYERS = 6, SEED = 7 };

static const char pattern[] = "M-*M*-";

static int tests, failures;

__attribute__((format(printf, 2, 3))) static void check(bool good, const char *format, ...)
{
    va_list arguments;

    tests++;
    failures += !good;
    printf("%sok %d - ", good ? "" : "not ", tests);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void require(bool good, const char *what)
{
    if (!good) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double random_unit(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) / 4503599627370496.0 - 1;
}

/* The sample: every fifth label is masked. */
static void sample_fill(int64_t sequence, int32_t *tokens, int32_t *labels)
{
    uint64_t state = 99;

    for (int64_t t = 0; t < sequence; t++) {
        tokens[t] = (int32_t)(random_bits(&state) % VOCAB);
        labels[t] = t % 5 == 3 ? -1 : (int32_t)(random_bits(&state) % VOCAB);
    }
}

/* A model whose parameters are all far from special values. */
static struct model *model_make(void)
{
    struct model_config config = model_defaults();
    uint64_t state = 5;

    config.pattern = pattern;
    config.hidden = HIDDEN;
    config.heads = HEADS;
    config.head_dim = DIM;
    config.mlp = MLP;
    config.vocab = VOCAB;
    config.conv_width = TAPS;
    config.rope_base = 100;
    struct model *model = model_create(&config, SEED);
    require(model, "no model");
    struct params *params = model_params(model);
    for (int64_t i = 0; i < params->count; i++) {
        params->values[i] += 0.3 * random_unit(&state);
    }
    return model;
}

/* ---- The oracle: one token at a time, from the formulas. ---- */

static const double *weight(const struct params *params, int layer, const char *name)
{
    char full[64];

    snprintf(full, sizeof full, layer < 0 ? "%.0s%s" : "layers.%s.%s",
             (const char[]){(char)('0' + (layer < 0 ? 0 : layer)), 0}, name);
    for (int64_t s = 0; s < params->slices_count; s++) {
        if (strcmp(params->slices[s].name, full) == 0) {
            return params->values + params->slices[s].offset;
        }
    }
    require(false, full);
    return NULL;
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static void vector_times(const double *x, const double *w, int in, int out, double *y)
{
    for (int o = 0; o < out; o++) {
        y[o] = 0;
        for (int i = 0; i < in; i++) {
            y[o] += x[i] * w[i * out + o];
        }
    }
}

static void oracle_norm(const double *x, const double *w, double *y)
{
    double squares = 0;

    for (int i = 0; i < HIDDEN; i++) {
        squares += x[i] * x[i];
    }
    for (int i = 0; i < HIDDEN; i++) {
        y[i] = x[i] * w[i] / sqrt(squares / HIDDEN + 1e-5);
    }
}

/* q, k, v of token t after convolution and SiLU; raw [sequence][3 INNER] are those before. */
static void oracle_conv(const struct params *p, int layer, const double (*raw)[3 * INNER],
                        int64_t t, double *out)
{
    const double *w = weight(p, layer, "conv");
    const double *bias = weight(p, layer, "conv_bias");

    for (int c = 0; c < 3 * INNER; c++) {
        double sum = bias[c];
        for (int64_t back = 0; back < TAPS && back <= t; back++) {
            sum += w[(TAPS - 1 - back) * 3 * INNER + c] * raw[t - back][c];
        }
        out[c] = silu(sum);
    }
}

/* One head of one token: S := exp(g) S + dt k v^T; y = q^T S / sqrt(d) + D v. */
static void oracle_recur(double state[DIM][DIM], const double *qkv, const double *dt_decay_skip,
                         double *y)
{
    const double *q = qkv;
    const double *k = qkv + INNER;
    const double *v = qkv + 2 * INNER;

    for (int j = 0; j < DIM; j++) {
        y[j] = dt_decay_skip[2] * v[j];
        for (int i = 0; i < DIM; i++) {
            state[i][j] = exp(dt_decay_skip[1]) * state[i][j] + dt_decay_skip[0] * k[i] * v[j];
            y[j] += q[i] * state[i][j] / sqrt(DIM);
        }
    }
}

static void oracle_linear(const struct params *p, int layer, int64_t sequence,
                          const double (*x)[HIDDEN], double (*out)[HIDDEN])
{
    static double raw[LONGEST][3 * INNER];
    double state[HEADS][DIM][DIM] = {{{0}}};

    for (int64_t t = 0; t < sequence; t++) {
        double qkv[3 * INNER], z[INNER], step[HEADS], y[INNER];
        vector_times(x[t], weight(p, layer, "qkv"), HIDDEN, 3 * INNER, raw[t]);
        vector_times(x[t], weight(p, layer, "z"), HIDDEN, INNER, z);
        vector_times(x[t], weight(p, layer, "dt"), HIDDEN, HEADS, step);
        oracle_conv(p, layer, (const double(*)[3 * INNER]) raw, t, qkv);
        for (int h = 0; h < HEADS; h++) {
            const double dt = log(1 + exp(step[h] + weight(p, layer, "dt_bias")[h]));
            const double decay = -exp(weight(p, layer, "a_log")[h]) * dt;
            const double facts[3] = {dt, decay, weight(p, layer, "d")[h]};
            oracle_recur(state[h], qkv + h * DIM, facts, y + h * DIM);
        }
        for (int i = 0; i < INNER; i++) {
            y[i] *= silu(z[i]);
        }
        vector_times(y, weight(p, layer, "out"), INNER, HIDDEN, out[t]);
    }
}

/* Rotates the pairs (i, i + DIM / 2) by position * 100^(-2 i / DIM). */
static void oracle_rotate(int64_t position, double *x)
{
    for (int h = 0; h < HEADS; h++, x += DIM) {
        for (int i = 0; i < DIM / 2; i++) {
            const double angle = (double)position * pow(100, -2.0 * i / DIM);
            const double a = x[i];
            const double b = x[i + DIM / 2];
            x[i] = a * cos(angle) - b * sin(angle);
            x[i + DIM / 2] = a * sin(angle) + b * cos(angle);
        }
    }
}

/* One head of one query against all rows up to its own. */
static void oracle_attend(const double *q, const double *kv, int64_t t, double *y)
{
    double sum = 0;

    memset(y, 0, DIM * sizeof *y);
    for (int64_t j = 0; j <= t; j++, kv += 2 * INNER) {
        double score = 0;
        for (int i = 0; i < DIM; i++) {
            score += q[i] * kv[i] / sqrt(DIM);
        }
        sum += exp(score);
        for (int i = 0; i < DIM; i++) {
            y[i] += exp(score) * kv[INNER + i];
        }
    }
    for (int i = 0; i < DIM; i++) {
        y[i] /= sum;
    }
}

static void oracle_attention(const struct params *p, int layer, int64_t sequence,
                             const double (*x)[HIDDEN], double (*out)[HIDDEN])
{
    static double kv[LONGEST][2 * INNER];

    for (int64_t t = 0; t < sequence; t++) {
        double q[INNER], y[INNER];
        vector_times(x[t], weight(p, layer, "q"), HIDDEN, INNER, q);
        vector_times(x[t], weight(p, layer, "kv"), HIDDEN, 2 * INNER, kv[t]);
        oracle_rotate(t, q);
        oracle_rotate(t, kv[t]);
        for (int h = 0; h < HEADS; h++) {
            oracle_attend(q + h * DIM, kv[0] + h * DIM, t, y + h * DIM);
        }
        vector_times(y, weight(p, layer, "out"), INNER, HIDDEN, out[t]);
    }
}

static void oracle_mlp(const struct params *p, int layer, int64_t sequence,
                       const double (*x)[HIDDEN], double (*out)[HIDDEN])
{
    for (int64_t t = 0; t < sequence; t++) {
        double gate[MLP], up[MLP];
        vector_times(x[t], weight(p, layer, "gate"), HIDDEN, MLP, gate);
        vector_times(x[t], weight(p, layer, "up"), HIDDEN, MLP, up);
        for (int i = 0; i < MLP; i++) {
            up[i] *= silu(gate[i]);
        }
        vector_times(up, weight(p, layer, "down"), MLP, HIDDEN, out[t]);
    }
}

static double oracle_token_loss(const struct params *p, const double *x, int32_t label)
{
    double normed[HIDDEN], logits[VOCAB];
    double sum = 0;

    oracle_norm(x, weight(p, -1, "norm"), normed);
    vector_times(normed, weight(p, -1, "head"), HIDDEN, VOCAB, logits);
    for (int i = 0; i < VOCAB; i++) {
        sum += exp(logits[i]);
    }
    return log(sum) - logits[label];
}

static double oracle_loss(const struct params *p, int64_t sequence)
{
    static double x[LONGEST][HIDDEN], normed[LONGEST][HIDDEN], y[LONGEST][HIDDEN];
    const double(*in)[HIDDEN] = (const double(*)[HIDDEN])normed;
    int32_t tokens[LONGEST], labels[LONGEST];
    double loss = 0;
    int counted = 0;

    sample_fill(sequence, tokens, labels);
    for (int64_t t = 0; t < sequence; t++) {
        memcpy(x[t], weight(p, -1, "embedding") + tokens[t] * HIDDEN, sizeof x[t]);
    }
    for (int i = 0; i < LAYERS; i++) {
        for (int64_t t = 0; t < sequence; t++) {
            oracle_norm(x[t], weight(p, i, "norm"), normed[t]);
        }
        if (pattern[i] == 'M') {
            oracle_linear(p, i, sequence, in, y);
        } else if (pattern[i] == '*') {
            oracle_attention(p, i, sequence, in, y);
        } else {
            oracle_mlp(p, i, sequence, in, y);
        }
        for (int64_t n = 0; n < sequence * HIDDEN; n++) {
            x[n / HIDDEN][n % HIDDEN] += y[n / HIDDEN][n % HIDDEN];
        }
    }
    for (int64_t t = 0; t < sequence; t++) {
        if (labels[t] >= 0) {
            loss += oracle_token_loss(p, x[t], labels[t]);
            counted++;
        }
    }
    return loss / counted;
}

/* ---- Layouts, token by token. ---- */

enum rule { CONTIGUOUS, MIRROR, ZIGZAG, RANDOM, LUMPED, RULES };

static const char *const rule_names[RULES] = {"contiguous", "mirror", "zigzag", "random", "lumped"};

struct layout {
    struct shard shards[MOST_RANKS];
    int64_t positions[MOST_RANKS][LONGEST];
    struct part chain[LONGEST];
};

static void append(struct layout *layout, int rank, int64_t start, int64_t length)
{
    struct shard *shard = &layout->shards[rank];

    for (int64_t i = 0; i < length; i++) {
        layout->positions[rank][shard->rows++] = start + i;
    }
}

/* Three pieces for every rank, dealt and ordered at random; about half are one or two rows long. */
static void append_random(struct layout *layout, int ranks, int64_t sequence, uint64_t seed)
{
    uint64_t state = seed * 7919 + 13;
    int64_t cuts[3 * MOST_RANKS + 1];
    int deal[3 * MOST_RANKS];
    const int pieces = 3 * ranks;

    cuts[0] = 0;
    for (int i = 0; i < pieces; i++) {
        const int64_t rest = (sequence - cuts[i]) / 3 + 1;
        const int64_t small = 1 + (int64_t)(random_bits(&state) % 2);
        const int64_t length = i % 3 ? small : 1 + (int64_t)(random_bits(&state) % (uint64_t)rest);
        const int64_t room = sequence - cuts[i] - 2 * (pieces - 1 - i);
        cuts[i + 1] = i == pieces - 1 ? sequence : cuts[i] + (length < room ? length : room);
        deal[i] = i;
    }
    for (int i = pieces - 1; i > 0; i--) {
        const int j = (int)(random_bits(&state) % (uint64_t)(i + 1));
        const int swapped = deal[i];
        deal[i] = deal[j];
        deal[j] = swapped;
    }
    for (int i = 0; i < pieces; i++) {
        append(layout, i % ranks, cuts[deal[i]], cuts[deal[i] + 1] - cuts[deal[i]]);
    }
}

/* The even positions in descending order on the first rank, the odd on the last, others empty. */
static void append_lumped(struct layout *layout, int ranks, int64_t sequence)
{
    for (int64_t t = sequence - 1; t >= 0; t--) {
        append(layout, t % 2 ? ranks - 1 : 0, t, 1);
    }
}

/* The chain: runs of positions that follow each other on one rank. Returns the number of parts. */
static int64_t chain_find(struct layout *layout, int ranks, int64_t sequence)
{
    int owner[LONGEST];
    int64_t local[LONGEST];
    int64_t parts = 0;

    for (int r = 0; r < ranks; r++) {
        for (int64_t i = 0; i < layout->shards[r].rows; i++) {
            owner[layout->positions[r][i]] = r;
            local[layout->positions[r][i]] = i;
        }
    }
    for (int64_t t = 0; t < sequence; t++) {
        if (t > 0 && owner[t] == owner[t - 1] && local[t] == local[t - 1] + 1) {
            layout->chain[parts - 1].length++;
        } else {
            layout->chain[parts++] = (struct part){owner[t], t, 1, local[t]};
        }
    }
    return parts;
}

static struct layout *layout_make(enum rule rule, int ranks, int64_t sequence, uint64_t seed)
{
    struct layout *layout = calloc(1, sizeof *layout);
    const int64_t slice = sequence / ranks;
    const int64_t half = sequence / (2 * ranks);

    require(layout, "no memory");
    for (int r = 0; r < ranks && rule < RANDOM; r++) {
        if (rule == ZIGZAG) {
            append(layout, r, r * half, half);
            append(layout, r, (2 * ranks - 1 - r) * half, half);
        } else {
            const int mirrored = r % 2 ? ranks - 1 - (r - 1) / 2 : r / 2;
            append(layout, r, (rule == MIRROR ? mirrored : r) * slice, slice);
        }
    }
    if (rule == RANDOM) {
        append_random(layout, ranks, sequence, seed);
    } else if (rule == LUMPED) {
        append_lumped(layout, ranks, sequence);
    }
    const int64_t parts = chain_find(layout, ranks, sequence);
    for (int r = 0; r < ranks; r++) {
        struct shard *shard = &layout->shards[r];
        *shard = (struct shard){r,     ranks,        shard->rows, sequence, layout->positions[r],
                                parts, layout->chain};
    }
    return layout;
}

/* ---- A step on several ranks. ---- */

struct group {
    int ranks;
    int64_t sequence;
    const struct layout *linear, *other, *boundary;
    bool eager; /* finalize every layer to the boundary layout */
    struct comm *comm;
    double stream[LONGEST][HIDDEN]; /* where rows are exchanged, by position */
    double loss[MOST_RANKS];
    double *gradients[MOST_RANKS];
    bool same[MOST_RANKS]; /* a second step gave the same bits */
};

struct rank {
    struct group *group;
    int rank;
};

static const struct layout *layer_layout(const struct group *group, int layer)
{
    if (layer < 0 || layer >= LAYERS) {
        return group->boundary;
    }
    return pattern[layer] == 'M' ? group->linear : group->other;
}

/* The layout between layer i - 1 and layer i. */
static const struct layout *between(const struct group *group, int i)
{
    return group->eager ? group->boundary : layer_layout(group, i == LAYERS ? LAYERS : i - 1);
}

static int exchange(const struct rank *rank, const struct layout *from, const struct layout *to,
                    real *in, real *out, real **result)
{
    struct group *group = rank->group;
    const struct shard *source = &from->shards[rank->rank];
    const struct shard *target = &to->shards[rank->rank];

    *result = from == to ? in : out;
    if (from == to) {
        return 0;
    }
    for (int64_t i = 0; i < source->rows; i++) {
        memcpy(group->stream[source->positions[i]], in + i * HIDDEN, HIDDEN * sizeof *in);
    }
    if (comm_barrier(group->comm, rank->rank)) {
        return -1;
    }
    for (int64_t i = 0; i < target->rows; i++) {
        memcpy(out + i * HIDDEN, group->stream[target->positions[i]], HIDDEN * sizeof *in);
    }
    return comm_barrier(group->comm, rank->rank);
}

static int prepare(void *self, int layer, int backward, real *in, real *out, real **result)
{
    const struct rank *rank = self;
    const struct layout *outside = between(rank->group, layer);
    const struct layout *inside = layer_layout(rank->group, layer);

    return backward ? exchange(rank, inside, outside, in, out, result)
                    : exchange(rank, outside, inside, in, out, result);
}

static int finalize(void *self, int layer, int backward, real *in, real *out, real **result)
{
    const struct rank *rank = self;
    const struct layout *outside = between(rank->group, layer + 1);
    const struct layout *inside = layer_layout(rank->group, layer);

    return backward ? exchange(rank, outside, inside, in, out, result)
                    : exchange(rank, inside, outside, in, out, result);
}

static int rank_step(struct rank *rank, struct model *model)
{
    struct group *group = rank->group;
    const struct shard *boundary = &group->boundary->shards[rank->rank];
    const struct shard *layers[LAYERS];
    const struct converter converter = {rank, prepare, finalize};
    int32_t tokens[LONGEST], labels[LONGEST], own_tokens[LONGEST], own_labels[LONGEST];

    sample_fill(group->sequence, tokens, labels);
    for (int64_t i = 0; i < boundary->rows; i++) {
        own_tokens[i] = tokens[boundary->positions[i]];
        own_labels[i] = labels[boundary->positions[i]];
    }
    for (int i = 0; i < LAYERS; i++) {
        layers[i] = &layer_layout(group, i)->shards[rank->rank];
    }
    const struct step_input input = {layers, boundary, own_tokens, own_labels};
    if (model_forward_backward(model, &input, group->comm, &converter, &group->loss[rank->rank])) {
        return -1;
    }
    return model_reduce_gradients(model, group->comm, rank->rank);
}

static void *rank_main(void *argument)
{
    struct rank *rank = argument;
    struct group *group = rank->group;
    struct model *model = model_make();
    const struct params *params = model_params(model);
    double *gradients = malloc(real_bytes(params->count));

    require(gradients, "no memory");
    if (rank_step(rank, model) == 0) {
        memcpy(gradients, params->gradients, real_bytes(params->count));
        group->gradients[rank->rank] = gradients;
        group->same[rank->rank] =
            rank_step(rank, model) == 0 &&
            memcmp(gradients, params->gradients, real_bytes(params->count)) == 0;
    } else {
        free(gradients);
    }
    model_destroy(model);
    return NULL;
}

static void group_run(struct group *group)
{
    pthread_t threads[MOST_RANKS];
    struct rank ranks[MOST_RANKS];

    group->comm = comm_create(group->ranks, 60);
    require(group->comm, "no communication");
    for (int r = 0; r < group->ranks; r++) {
        ranks[r] = (struct rank){group, r};
        require(pthread_create(&threads[r], NULL, rank_main, &ranks[r]) == 0, "no thread");
    }
    for (int r = 0; r < group->ranks; r++) {
        pthread_join(threads[r], NULL);
    }
    require(comm_error(group->comm)[0] == 0, comm_error(group->comm));
}

static void group_clear(struct group *group)
{
    comm_destroy(group->comm);
    for (int r = 0; r < group->ranks; r++) {
        free(group->gradients[r]);
    }
}

/* ---- The tests. ---- */

/* Loss and gradients of one rank, which the oracle checks and the other cases are held against. */
static void single_run(struct group *group, int64_t sequence)
{
    struct layout *layout = layout_make(CONTIGUOUS, 1, sequence, 0);

    *group = (struct group){.ranks = 1,
                            .sequence = sequence,
                            .linear = layout,
                            .other = layout,
                            .boundary = layout};
    group_run(group);
    free(layout);
}

/* The oracle's derivative by one parameter: central differences of fourth order. */
static double derivative(struct params *params, int64_t i, int64_t sequence)
{
    const double kept = params->values[i];
    const double step = 5e-5;
    const double factors[] = {1, -8, 8, -1};
    const double places[] = {-2, -1, 1, 2};
    double sum = 0;

    for (int n = 0; n < 4; n++) {
        params->values[i] = kept + places[n] * step;
        sum += factors[n] * oracle_loss(params, sequence);
    }
    params->values[i] = kept;
    return sum / (12 * step);
}

/* The worst of some 24 sampled entries of a slice, in units of the tolerance. */
static double slice_error(struct params *params, const struct slice *slice, const double *gradients,
                          int64_t sequence)
{
    const int64_t stride = slice->count > 24 ? slice->count / 24 : 1;
    double worst = 0;

    for (int64_t i = slice->offset; i < slice->offset + slice->count; i += stride) {
        const double apart = fabs(derivative(params, i, sequence) - gradients[i]);
        worst = fmax(worst, apart / (1e-6 * fabs(gradients[i]) + 1e-9));
    }
    return worst;
}

static void test_single(const struct group *single)
{
    struct model *model = model_make();
    struct params *params = model_params(model);
    const double expected = oracle_loss(params, single->sequence);

    check(fabs(single->loss[0] - expected) < 1e-12 * expected,
          "S=%d: the loss %.12g is that of the token-by-token model", (int)single->sequence,
          single->loss[0]);
    for (int64_t s = 0; s < params->slices_count; s++) {
        const struct slice *slice = &params->slices[s];
        const double worst = slice_error(params, slice, single->gradients[0], single->sequence);
        check(worst < 1, "S=%d: finite differences agree with %s (%.3f of the tolerance)",
              (int)single->sequence, slice->name, worst);
    }
    model_destroy(model);
}

/* The largest difference of a slice, relative to its largest gradient; the worst slice's. */
static double gradient_error(const double *a, const double *b)
{
    struct model *model = model_make();
    const struct params *params = model_params(model);
    double worst = 0;

    for (int64_t s = 0; s < params->slices_count; s++) {
        const struct slice *slice = &params->slices[s];
        double largest = 0;
        double apart = 0;
        for (int64_t i = slice->offset; i < slice->offset + slice->count; i++) {
            largest = fmax(largest, fabs(a[i]));
            apart = fmax(apart, fabs(a[i] - b[i]));
        }
        worst = fmax(worst, apart / largest);
    }
    model_destroy(model);
    return worst;
}

static bool ranks_agree(const struct group *group)
{
    struct model *model = model_make();
    const int64_t count = model_params(model)->count;
    bool agree = true;

    model_destroy(model);
    for (int r = 0; r < group->ranks; r++) {
        agree = agree && group->same[r] && group->loss[r] == group->loss[0] &&
                memcmp(group->gradients[r], group->gradients[0], real_bytes(count)) == 0;
    }
    return agree;
}

/* Borders between parts on different ranks. */
static int64_t borders(const struct layout *layout)
{
    int64_t crossed = 0;

    for (int64_t p = 1; p < layout->shards[0].parts; p++) {
        crossed += layout->chain[p].rank != layout->chain[p - 1].rank;
    }
    return crossed;
}

/* Rows that precede a part by less than TAPS and lie on another rank, token by token. */
static int64_t halo_rows(const struct layout *layout)
{
    const struct part *chain = layout->chain;
    int64_t rows = 0;

    for (int64_t p = 1; p < layout->shards[0].parts; p++) {
        for (int64_t t = chain[p].start - 1; t >= 0 && t > chain[p].start - TAPS; t--) {
            int64_t q = p;
            while (chain[q].start > t) {
                q--;
            }
            rows += chain[q].rank != chain[p].rank;
        }
    }
    return rows;
}

/* Two steps were counted, each of them forward and backward; two layers of each kind. */
static void test_bytes(const struct group *group, const char *name)
{
    const int64_t times = 2 * 2 * 2 * (int64_t)sizeof(double);
    const int64_t state = times * borders(group->linear) * HEADS * DIM * DIM;
    const int64_t halo = times * halo_rows(group->linear) * 3 * INNER;
    const int64_t attention = times * (group->ranks - 1) * group->sequence * 2 * INNER;

    check(comm_bytes(group->comm, COMM_STATE) == state &&
              comm_bytes(group->comm, COMM_HALO) == halo &&
              comm_bytes(group->comm, COMM_ATTENTION) == attention,
          "%s: %lld bytes of states, %lld of halos, %lld of keys and values", name,
          (long long)state, (long long)halo, (long long)attention);
}

struct mix {
    enum rule linear, other, boundary;
    bool eager;
};

static void test_ranks(const struct group *single, int ranks, struct mix mix, uint64_t seed)
{
    const int64_t sequence = single->sequence;
    struct layout *linear = layout_make(mix.linear, ranks, sequence, seed);
    struct layout *other =
        mix.other == mix.linear ? linear : layout_make(mix.other, ranks, sequence, seed);
    struct layout *boundary =
        mix.boundary == mix.linear ? linear : layout_make(mix.boundary, ranks, sequence, seed);
    struct group group = {.ranks = ranks,
                          .sequence = sequence,
                          .linear = linear,
                          .other = other,
                          .boundary = boundary,
                          .eager = mix.eager};
    char name[80];

    snprintf(name, sizeof name, "S=%d P=%d %s/%s in %s%s", (int)sequence, ranks,
             rule_names[mix.linear], rule_names[mix.other], rule_names[mix.boundary],
             mix.eager ? ", eager" : "");
    group_run(&group);
    const double loss = fabs(group.loss[0] - single->loss[0]) / single->loss[0];
    const double worst = gradient_error(single->gradients[0], group.gradients[0]);
    check(loss < 1e-12 && worst < 1e-10, "%s: loss and gradients as on one rank (%.1e)", name,
          worst);
    check(ranks_agree(&group), "%s: all ranks and a second step have the same bits", name);
    test_bytes(&group, name);
    group_clear(&group);
    free(boundary == linear ? NULL : boundary);
    free(other == linear ? NULL : other);
    free(linear);
}

static void test_layouts(const struct group *single)
{
    const struct mix mixes[] = {
        {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS, false},
        {MIRROR, MIRROR, MIRROR, false},
        {ZIGZAG, ZIGZAG, ZIGZAG, false},
        {CONTIGUOUS, ZIGZAG, ZIGZAG, false},
        {CONTIGUOUS, ZIGZAG, CONTIGUOUS, true},
        {MIRROR, ZIGZAG, CONTIGUOUS, true},
        {LUMPED, ZIGZAG, LUMPED, true},
        {RANDOM, LUMPED, CONTIGUOUS, false},
        {RANDOM, RANDOM, RANDOM, false},
        {RANDOM, ZIGZAG, CONTIGUOUS, false},
    };

    for (int ranks = 2; ranks <= MOST_RANKS; ranks++) {
        for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
            test_ranks(single, ranks, mixes[i], (uint64_t)ranks);
        }
        for (uint64_t seed = 10; seed < 13; seed++) {
            test_ranks(single, ranks, (struct mix){RANDOM, RANDOM, RANDOM, false}, seed);
        }
    }
}

int main(void)
{
    const int64_t sequences[] = {24, 192};
    struct group single;

    openblas_set_num_threads(1);
    single_run(&single, 72);
    test_single(&single);
    group_clear(&single);
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        single_run(&single, sequences[i]);
        if (i == 0) {
            test_single(&single);
        }
        test_layouts(&single);
        group_clear(&single);
    }
    printf("1..%d\n", tests);
    return failures ? 1 : 0;
}
