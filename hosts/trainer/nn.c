/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row-local pieces of the network: linear maps, RMSNorm, the SiLU gate, embedding and loss. Each
 * forward is followed by its backward. No state; safe from any thread.
 */
#include "nn.h"

#include "gemm.h"

#include <string.h>

void linear_forward(struct linear s, const real *x, const real *w, real *y)
{
    const struct gemm g = {s.rows, s.out, s.in, 1, 0};

    gemm_nn(g, operand(x, s.in), operand(w, s.out), y, s.out);
}

/* dw += x^T dy, dx += dy w^T */
void linear_backward(struct linear s, const real *x, const real *w, const real *dy,
                     struct linear_gradient gradient)
{
    const struct gemm weights = {s.in, s.out, s.rows, 1, 1};
    const struct gemm inputs = {s.rows, s.in, s.out, 1, 1};

    gemm_tn(weights, operand(x, s.in), operand(dy, s.out), gradient.dw, s.out);
    gemm_nt(inputs, operand(dy, s.out), operand(w, s.out), gradient.dx, s.in);
}

/* y = weight * x / rms(x), rms(x)^2 = mean(x^2) + 1e-5 (Zhang & Sennrich 2019). */
void norm_forward(struct norm s, const real *x, const real *weight, real *inverse, real *y)
{
    for (int64_t t = 0; t < s.rows; t++, x += s.width, y += s.width) {
        real squares = 0;
        for (int64_t i = 0; i < s.width; i++) {
            squares += x[i] * x[i];
        }
        inverse[t] = 1 / real_sqrt(squares / (real)s.width + (real)1e-5);
        for (int64_t i = 0; i < s.width; i++) {
            y[i] = weight[i] * x[i] * inverse[t];
        }
    }
}

/* With r = 1 / rms: dx_i = r (weight_i dy_i - x_i r^2 mean_j(weight_j dy_j x_j)). */
void norm_backward(struct norm s, struct norm_saved saved, const real *dy, real *dweight, real *dx)
{
    const real *x = saved.x;
    const real *weight = saved.weight;

    for (int64_t t = 0; t < s.rows; t++, x += s.width, dy += s.width, dx += s.width) {
        const real r = saved.inverse[t];
        real along = 0;
        for (int64_t i = 0; i < s.width; i++) {
            along += weight[i] * dy[i] * x[i];
            dweight[i] += dy[i] * x[i] * r;
        }
        along *= r * r / (real)s.width;
        for (int64_t i = 0; i < s.width; i++) {
            dx[i] += r * (weight[i] * dy[i] - x[i] * along);
        }
    }
}

void gate_forward(int64_t count, struct gate g, real *out)
{
    for (int64_t i = 0; i < count; i++) {
        g.sigmoid[i] = real_sigmoid(g.gate[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        out[i] = g.gate[i] * g.sigmoid[i] * g.value[i];
    }
}

/* silu(x) = x s(x), so silu'(x) = s (1 + x (1 - s)). */
void gate_backward(int64_t count, struct gate g, const real *dout, real *dgate, real *dvalue)
{
    for (int64_t i = 0; i < count; i++) {
        const real s = g.sigmoid[i];
        const real x = g.gate[i];
        dgate[i] += dout[i] * g.value[i] * s * (1 + x * (1 - s));
        dvalue[i] += dout[i] * x * s;
    }
}

void embedding_forward(struct norm s, const real *table, const int32_t *tokens, real *y)
{
    for (int64_t t = 0; t < s.rows; t++) {
        memcpy(y + t * s.width, table + tokens[t] * s.width, real_bytes(s.width));
    }
}

void embedding_backward(struct norm s, const int32_t *tokens, const real *dy, real *dtable)
{
    for (int64_t t = 0; t < s.rows; t++) {
        real *row = dtable + tokens[t] * s.width;
        for (int64_t i = 0; i < s.width; i++) {
            row[i] += dy[t * s.width + i];
        }
    }
}

/* row := exp(row - max); returns the sum and the logarithm of what was divided out, the maximum. */
static real exponentials(real *row, int64_t width, real *maximum)
{
    real sum = 0;

    *maximum = row[0];
    for (int64_t i = 1; i < width; i++) {
        *maximum = row[i] > *maximum ? row[i] : *maximum;
    }
    for (int64_t i = 0; i < width; i++) {
        row[i] = real_exp(row[i] - *maximum);
        sum += row[i];
    }
    return sum;
}

/* d loss / d logit_i = softmax_i - [i = label] */
double cross_entropy(struct norm s, const int32_t *labels, real scale, real *logits)
{
    double loss = 0;

    for (int64_t t = 0; t < s.rows; t++, logits += s.width) {
        if (labels[t] < 0) {
            memset(logits, 0, real_bytes(s.width));
            continue;
        }
        const real target = logits[labels[t]];
        real maximum;
        const real sum = exponentials(logits, s.width, &maximum);
        loss += log((double)sum) + (double)(maximum - target);
        for (int64_t i = 0; i < s.width; i++) {
            logits[i] *= scale / sum;
        }
        logits[labels[t]] -= scale;
    }
    return loss;
}
