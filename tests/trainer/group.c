/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/group.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adam.h"
#include "trainer/check.h"

struct rank {
    struct group *group;
    int rank;
};

/* ---- Conversions ---- */

static const struct layout *layer_layout(const struct group *group, int layer)
{
    if (layer < 0 || layer >= LAYERS) {
        return group->boundary;
    }
    return tiny_pattern[layer] == 'M' ? group->linear : group->other;
}

/* The layout between layer i - 1 and layer i. */
static const struct layout *between(const struct group *group, int i)
{
    return group->eager ? group->boundary : layer_layout(group, i == LAYERS ? LAYERS : i - 1);
}

struct way {
    const struct layout *from, *to;
    bool backward;
};

static void leave_rows(double (*table)[HIDDEN], const struct layout *layout, int rank,
                       const double *rows)
{
    for (int64_t i = 0; i < layout->rows_of[rank]; i++) {
        const int64_t row = layout->rows[rank][i];
        if (row != NO_ROW) {
            memcpy(table[row], rows + i * HIDDEN, sizeof *table);
        }
    }
}

/* Padding of a gradient is zero, as the plugin leaves it; that of the stream may be anything. */
static void fetch_rows(const struct group *group, const struct way *way, int rank, double *rows)
{
    const double garbage = way->backward ? 0 : group->garbage;

    for (int64_t n = 0; n < way->to->rows_of[rank] * HIDDEN; n++) {
        const int64_t row = way->to->rows[rank][n / HIDDEN];
        const double padding = garbage * (double)(n % 7 - 3);
        rows[n] = row == NO_ROW ? padding : group->stream[row][n % HIDDEN];
    }
}

static int exchange(const struct rank *rank, const struct way *way, double *in, double *out,
                    double **result)
{
    struct group *group = rank->group;

    *result = in;
    if (way->from == way->to && (way->backward || group->garbage == 0)) {
        return 0;
    }
    *result = out;
    leave_rows(group->stream, way->from, rank->rank, in);
    if (comm_barrier(group->comm, rank->rank)) {
        return -1;
    }
    fetch_rows(group, way, rank->rank, out);
    return comm_barrier(group->comm, rank->rank);
}

static int prepare(void *self, int layer, int backward, real *in, real *out, real **result)
{
    const struct rank *rank = self;
    const struct layout *outside = between(rank->group, layer);
    const struct layout *inside = layer_layout(rank->group, layer);
    const struct way way = {backward ? inside : outside, backward ? outside : inside,
                            backward != 0};

    if (backward && layer == 0) {
        leave_rows(rank->group->into_gradient, inside, rank->rank, in);
    }
    return exchange(rank, &way, in, out, result);
}

static int finalize(void *self, int layer, int backward, real *in, real *out, real **result)
{
    const struct rank *rank = self;
    const struct layout *outside = between(rank->group, layer + 1);
    const struct layout *inside = layer_layout(rank->group, layer);
    const struct way way = {backward ? outside : inside, backward ? inside : outside,
                            backward != 0};

    if (!backward && layer == LAYERS - 1) {
        leave_rows(rank->group->leaving, inside, rank->rank, in);
    }
    return exchange(rank, &way, in, out, result);
}

/* ---- Steps ---- */

/* Padding has a token, but no label. */
static void cut_sample(const struct group *group, int rank, int32_t *tokens, int32_t *labels)
{
    const struct layout *layout = group->boundary;

    for (int64_t i = 0; i < layout->rows_of[rank]; i++) {
        const int64_t row = layout->rows[rank][i];
        tokens[i] = row == NO_ROW ? (int32_t)(group->garbage != 0 ? i % VOCAB : 0)
                                  : group->pack->tokens[row];
        labels[i] = row == NO_ROW ? -1 : group->pack->labels[row];
    }
}

static int rank_step(struct rank *rank, struct model *model, double *loss)
{
    struct group *group = rank->group;
    const struct shard *layers[LAYERS];
    const struct converter converter = {rank, prepare, finalize};
    int32_t tokens[ROOM], labels[ROOM];

    cut_sample(group, rank->rank, tokens, labels);
    for (int i = 0; i < LAYERS; i++) {
        layers[i] = &layer_layout(group, i)->shards[rank->rank];
    }
    const struct step_input input = {
        .layers = layers,
        .boundary = &group->boundary->shards[rank->rank],
        .tokens = tokens,
        .labels = labels,
        .recompute = group->recompute,
    };
    if (model_forward_backward(model, &input, group->comm, &converter, loss)) {
        return -1;
    }
    return model_reduce_gradients(model, group->comm, rank->rank);
}

static double *copy(const double *values, int64_t count)
{
    double *copied = malloc(real_bytes(count));

    require(copied, "no memory");
    memcpy(copied, values, real_bytes(count));
    return copied;
}

static int rank_updates(struct rank *rank, struct model *model)
{
    const struct adam_config config = adam_defaults();
    struct params *params = model_params(model);
    struct adam *adam = adam_create(&config, params);
    int status = 0;

    require(adam, "no memory");
    for (int n = 0; n < UPDATES && status == 0; n++) {
        double loss = 0;
        status = rank_step(rank, model, &loss);
        adam_step(adam, params, 0.01);
        if (rank->rank == 0) {
            rank->group->later[n] = loss;
        }
    }
    adam_destroy(adam);
    rank->group->values[rank->rank] = copy(params->values, params->count);
    return status;
}

/* A failure is left in comm. */
static void rank_steps(struct rank *rank, struct model *model)
{
    struct group *group = rank->group;
    const struct params *params = model_params(model);
    double again;

    if (rank_step(rank, model, &group->loss[rank->rank])) {
        return;
    }
    double *gradients = copy(params->gradients, params->count);
    group->gradients[rank->rank] = gradients;
    if (rank_step(rank, model, &again)) {
        return;
    }
    group->same[rank->rank] = again == group->loss[rank->rank] &&
                              memcmp(gradients, params->gradients, real_bytes(params->count)) == 0;
    if (group->updates) {
        (void)rank_updates(rank, model);
    }
}

static void *rank_main(void *argument)
{
    struct model *model = model_make();

    rank_steps(argument, model);
    model_destroy(model);
    return NULL;
}

void group_run(struct group *group)
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

void group_clear(struct group *group)
{
    comm_destroy(group->comm);
    for (int r = 0; r < group->ranks; r++) {
        free(group->gradients[r]);
        free(group->values[r]);
    }
}

/* ---- Mixes ---- */

struct group *mix_make(const struct mix *mix, int ranks, const struct pack *pack, uint64_t seed)
{
    struct group *group = calloc(1, sizeof *group);
    struct layout *linear = layout_make(mix->linear, ranks, pack, seed);

    require(group, "no memory");
    group->ranks = ranks;
    group->pack = pack;
    group->eager = mix->eager;
    group->linear = linear;
    group->other = mix->other == mix->linear ? linear : layout_make(mix->other, ranks, pack, seed);
    group->boundary =
        mix->boundary == mix->linear ? linear : layout_make(mix->boundary, ranks, pack, seed);
    return group;
}

void mix_clear(struct group *group)
{
    group_clear(group);
    free(group->boundary == group->linear ? NULL : group->boundary);
    free(group->other == group->linear ? NULL : group->other);
    free(group->linear);
    free(group);
}

void mix_name(const struct mix *mix, const struct group *group, char name[96])
{
    snprintf(name, 96, "S=%d D=%d P=%d %s/%s in %s%s%s", (int)group->pack->rows,
             group->pack->documents, group->ranks, rule_names[mix->linear], rule_names[mix->other],
             rule_names[mix->boundary], mix->eager ? ", eager" : "",
             group->recompute ? ", recompute" : "");
}

struct group *group_alone(const struct pack *pack)
{
    struct group *group =
        mix_make(&(struct mix){CONTIGUOUS, CONTIGUOUS, CONTIGUOUS, false}, 1, pack, 0);

    group_run(group);
    return group;
}

/* ---- Checks ---- */

static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

static double slice_distance(const struct slice *slice, const double *expected,
                             const double *gradients)
{
    double largest = 0;
    double apart = 0;

    for (int64_t i = slice->offset; i < slice->offset + slice->count; i++) {
        largest = larger(fabs(expected[i]), largest);
        apart = larger(fabs(expected[i] - gradients[i]), apart);
    }
    return apart / largest;
}

double gradient_error(const double *expected, const double *gradients)
{
    struct model *model = model_make();
    const struct params *params = model_params(model);
    double worst = 0;

    for (int64_t s = 0; s < params->slices_count; s++) {
        worst = larger(slice_distance(&params->slices[s], expected, gradients), worst);
    }
    model_destroy(model);
    return worst;
}

static bool ranks_agree(const struct group *group)
{
    struct model *model = model_make();
    const size_t bytes = real_bytes(model_params(model)->count);
    bool agree = true;

    model_destroy(model);
    for (int r = 0; r < group->ranks; r++) {
        agree = agree && group->same[r] && group->loss[r] == group->loss[0] &&
                memcmp(group->gradients[r], group->gradients[0], bytes) == 0;
    }
    return agree;
}

/* Two steps, two layers of each kind; forward and backward, with recomputation forward twice. */
static void check_bytes(const struct group *group, const char *name)
{
    const int64_t times = 2 * 2 * (group->recompute ? 3 : 2) * (int64_t)sizeof(double);
    const int64_t state = times * layout_borders(group->linear, group->pack) * HEADS * DIM * DIM;
    const int64_t halo = times * layout_halo_rows(group->linear, group->pack, TAPS) * 3 * INNER;
    const int64_t attention =
        times * (group->ranks - 1) * layout_all_rows(group->other) * 2 * INNER;

    check(comm_bytes(group->comm, COMM_STATE) == state &&
              comm_bytes(group->comm, COMM_HALO) == halo &&
              comm_bytes(group->comm, COMM_ATTENTION) == attention,
          "%s: %lld bytes of states, %lld of halos, %lld of keys and values", name,
          (long long)state, (long long)halo, (long long)attention);
}

void group_check(const struct group *group, const char *name, double loss, const double *gradients)
{
    const double apart = fabs(group->loss[0] - loss) / loss;
    const double worst = gradient_error(gradients, group->gradients[0]);

    check(apart < 1e-12 && worst < 1e-10, "%s: loss and gradients as on one rank (%.1e, %.1e)",
          name, apart, worst);
    check(ranks_agree(group), "%s: all ranks and a second step have the same bits", name);
    check_bytes(group, name);
}
