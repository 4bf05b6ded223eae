/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One token at a time, from the formulas. The static arrays make it for one thread.
 */
#include "trainer/by_token.h"

#include <stdio.h>
#include <string.h>

#include "trainer/check.h"

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

static void oracle_layer(const struct params *p, int layer, int64_t rows,
                         const double (*in)[HIDDEN], double (*out)[HIDDEN])
{
    switch (tiny_pattern[layer]) {
    case 'M':
        oracle_linear(p, layer, rows, in, out);
        return;
    case '*':
        oracle_attention(p, layer, rows, in, out);
        return;
    default:
        oracle_mlp(p, layer, rows, in, out);
    }
}

/* The sum over the counted tokens of one sequence. */
static double oracle_sequence_loss(const struct params *p, const int32_t *tokens,
                                   const int32_t *labels, int64_t rows)
{
    static double x[LONGEST][HIDDEN], normed[LONGEST][HIDDEN], y[LONGEST][HIDDEN];
    double loss = 0;

    for (int64_t t = 0; t < rows; t++) {
        memcpy(x[t], weight(p, -1, "embedding") + tokens[t] * HIDDEN, sizeof x[t]);
    }
    for (int i = 0; i < LAYERS; i++) {
        for (int64_t t = 0; t < rows; t++) {
            oracle_norm(x[t], weight(p, i, "norm"), normed[t]);
        }
        oracle_layer(p, i, rows, (const double(*)[HIDDEN])normed, y);
        for (int64_t n = 0; n < rows * HIDDEN; n++) {
            x[n / HIDDEN][n % HIDDEN] += y[n / HIDDEN][n % HIDDEN];
        }
    }
    for (int64_t t = 0; t < rows; t++) {
        loss += labels[t] >= 0 ? oracle_token_loss(p, x[t], labels[t]) : 0;
    }
    return loss;
}

double oracle_loss(const struct params *params, const struct pack *pack)
{
    double loss = 0;

    for (int d = 0; d < pack->documents; d++) {
        const int64_t begin = pack->offsets[d];
        loss += oracle_sequence_loss(params, pack->tokens + begin, pack->labels + begin,
                                     pack->offsets[d + 1] - begin);
    }
    return loss / (double)pack_counted(pack);
}
