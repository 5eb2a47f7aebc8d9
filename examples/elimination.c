/* Pareto set identification in C, to be tested by
 *     cc -O2 -o elimination elimination.c -lm && paretoid certify --program ./elimination
 * Round robin; an arm is settled once another beats it for certain, or none can.
 * The lines it reads and writes are described in validation/program.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    static char line[1 << 16];
    static double sum[64][16];
    int K, D;
    double delta, sigma;
    if (!fgets(line, sizeof line, stdin)) return 1;
    if (sscanf(line, "{\"begin\": true, \"K\": %d, \"D\": %d, \"delta\": %lf, \"sigma\": %lf",
               &K, &D, &delta, &sigma) != 4 || K > 64 || D > 16) return 2;
    for (long n = 1;; n++) {
        for (int i = 0; i < K; i++) {
            printf("{\"sample\": %d}\n", i);
            fflush(stdout);
            if (!fgets(line, sizeof line, stdin)) return 3;
            char *at = strchr(line, '[');
            for (int d = 0; at && d < D; d++) sum[i][d] += strtod(at + 1, &at);
        }
        /* a union over pairs, objectives and all n: sum of 1/(n(n+1)) is 1 */
        double radius = 2 * sigma * sqrt(log(K * (K - 1.0) * D * n * (n + 1.0) / delta) / n);
        int settled = 0, optimal[64];
        for (int i = 0; i < K; i++) {
            int beaten = 0, clear = 1;
            for (int j = 0; j < K; j++) {
                double most = -INFINITY; /* M(i, j) */
                for (int d = 0; d < D; d++) most = fmax(most, (sum[i][d] - sum[j][d]) / n);
                if (j != i && most < -radius) beaten = 1;
                if (j != i && most < radius) clear = 0;
            }
            optimal[i] = !beaten;
            settled += beaten || clear;
        }
        if (settled < K) continue;
        printf("{\"answer\": [");
        for (int i = 0, first = 1; i < K; i++)
            if (optimal[i]) printf(first ? "%d" : ", %d", i), first = 0;
        printf("]}\n");
        return 0;
    }
}
