"""Synthetic matrices: families that are drawn with a generator, and a zoo of 49 of which each is a way to go wrong.

The order of the draws is part of the definition: a matrix that is added to the zoo goes to its end.
"""

import numpy as np
import scipy.linalg


def of_rank(rng, n, m, rank=5, noise=0.0):
    part = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    return part + noise * part.std() * rng.standard_normal((n, m))


def power_law(rng, n, m):
    left, right = (np.linalg.qr(rng.standard_normal((size, m))).Q for size in (n, m))
    return (left / np.arange(1, m + 1)) @ right.T


def heavy(rng, n, m, signal=0.3, noise=0.5):
    rows, columns = rng.standard_normal((n, 4)), rng.standard_normal((4, m))
    scales = 1.5 * rng.standard_normal((1, m))
    return np.exp(signal * rows @ columns + scales + noise * rng.standard_normal((n, m)))


def lognormal_rows(rng, n, m):
    return np.exp(1.5 * rng.standard_normal((n, 1))) * (2 + 0.5 * of_rank(rng, n, m, 3, noise=0.5))


def student(rng, n, m):
    offsets = rng.standard_normal((n, 1)) + rng.standard_normal((1, m))
    return offsets + 0.5 * of_rank(rng, n, m, 3) + rng.standard_t(3, (n, m))


def pareto_columns(rng, n, m):
    return (1 + rng.pareto(1.5, (1, m))) * (1 + 0.5 * of_rank(rng, n, m, 3, noise=0.5))


def counts_of_gamma_rates(rng, n, m):
    return rng.poisson(2 * rng.gamma(0.5, size=(n, 3)) @ rng.gamma(0.5, size=(3, m))).astype(float)


def zoo(n: int = 300, m: int = 200, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal
    low_rank = normal((n, 5)) @ normal((5, m))
    x, y = np.linspace(0, 1, n)[:, None], np.linspace(0, 1, m)
    i, j = np.arange(n)[:, None], np.arange(m)

    def blocks(count, block):
        M = np.zeros((n, m))
        for k in range(count):
            M[k * n // count : (k + 1) * n // count, k * m // count : (k + 1) * m // count] = block(
                n // count, m // count
            )
        return M

    def with_values(M, count, values):
        """A copy with ``values(count)`` added at ``count`` random places."""
        M = M.copy()
        places = rng.choice(n * m, count, replace=False)
        M.ravel()[places] += values(count)
        return M

    def replaced(M, where, values):
        M = M.copy()
        M[where] = values
        return M

    z = {"lowrank": low_rank}
    z["lowrank+noise.3"] = low_rank + 0.3 * low_rank.std() * normal((n, m))
    z["lowrank+noise3"] = low_rank + 3 * low_rank.std() * normal((n, m))
    z["noise"] = normal((n, m))
    z["blockdiag20 rank1"] = blocks(20, lambda a, b: normal((a, 1)) @ normal((1, b)))
    z["blockdiag5 const"] = blocks(5, lambda a, b: 1 + 0.1 * normal((a, b)))
    z["blockdiag50"] = blocks(50, lambda a, b: 1.0)
    z["sparse spikes"] = with_values(np.zeros((n, m)), n * m // 100, lambda k: 1 + rng.pareto(1.1, k))
    z["cauchy"] = rng.standard_cauchy((n, m))
    z["t2"] = rng.standard_t(2, (n, m))
    z["lowrank+sparse outliers"] = with_values(low_rank, n * m // 200, lambda k: 50 * normal(k))
    z["lowrank+rare huge outliers"] = with_values(low_rank, n * m // 2000, lambda k: 1000 * normal(k))
    z["near-dup rows"] = np.repeat(normal((10, m)), n // 10, 0) + 1e-6 * normal((n, m))
    z["banded"] = scipy.linalg.toeplitz(np.r_[np.linspace(1, 0, 6), np.zeros(n - 6)])[:, :m]
    z["banded random"] = np.where(np.abs(i * m / n - j) < 5, normal((n, m)), 0)
    z["permutation"] = replaced(np.zeros((n, m)), (np.arange(m), rng.permutation(m)), 1.0)
    z["identity"] = np.eye(n, m)
    z["toeplitz"] = scipy.linalg.toeplitz(0.95 ** np.arange(n))[:, :m]
    z["toeplitz osc"] = scipy.linalg.toeplitz(np.cos(np.arange(n) * 2.1) / (1 + 0.1 * np.arange(n)))[:, :m]
    z["sign alternation"] = (-1.0) ** (i + j) + 0.2 * normal((n, m))
    z["corr columns"] = normal((n, 1)) + 0.05 * normal((n, m))
    z["column units"] = (low_rank + 0.1 * normal((n, m))) * 10 ** np.linspace(-6, 6, m)
    z["column units shuffled"] = (low_rank + 0.1 * normal((n, m))) * 10 ** rng.permutation(np.linspace(-6, 6, m))
    z["row units"] = (low_rank + 0.1 * normal((n, m))) * 10 ** rng.permutation(np.linspace(-6, 6, n))[:, None]
    z["row units 1e2"] = (low_rank + 0.1 * normal((n, m))) * 10 ** rng.permutation(np.linspace(-1, 1, n))[:, None]
    z["offset1000"] = low_rank + 0.3 * normal((n, m)) + 1000
    z["integers poisson"] = rng.poisson(np.exp(0.5 * (normal((n, 2)) @ normal((2, m))))).astype(float)
    z["binary 1%"] = (rng.random((n, m)) < 0.01).astype(float)
    z["binary 30% lowrank"] = (rng.random((n, m)) < 1 / (1 + np.exp(-normal((n, 3)) @ normal((3, m))))).astype(float)
    z["kernel gauss"] = np.exp(-((x - y) ** 2) / 0.02)
    z["kernel narrow"] = np.exp(-((x - y) ** 2) / 2e-4)
    z["cauchy kernel"] = 1 / (x - y - 0.0013)
    z["one row 1e6"] = replaced(low_rank * 1e-3, 7, 1e3 * normal(m))
    z["one huge column"] = replaced(low_rank, (slice(None), 3), 1e3 * normal(n))
    noisy = low_rank + 0.1 * normal((n, m))
    z["10% noise rows"] = replaced(noisy, slice(None, None, 10), 20 * normal((len(noisy[::10]), m)))
    noisy = low_rank + 0.1 * normal((n, m))
    z["10% noise cols"] = replaced(noisy, np.s_[:, ::10], 20 * normal((n, len(noisy[0, ::10]))))
    z["90% zero rows"] = replaced(low_rank, slice(n // 10, None), 0.0)
    z["identity+lowrank"] = np.eye(n, m) * 5 + 0.3 * low_rank
    z["power law"] = (np.linalg.qr(normal((n, m)))[0] / np.arange(1, m + 1)) @ np.linalg.qr(normal((m, m)))[0].T
    z["lognormal rows"] = np.exp(2 * normal((n, 1))) * (low_rank + normal((n, m)))
    z["lognormal rowscols"] = np.exp(1.5 * normal((n, 1))) * (low_rank + normal((n, m))) * np.exp(1.5 * normal((1, m)))
    z["pareto outer"] = (rng.pareto(1.0, (n, 1)) * normal((n, 5))) @ (rng.pareto(1.0, (m, 1)) * normal((m, 5))).T
    z["clusters"] = normal((8, m))[rng.integers(8, size=n)] + 0.5 * normal((n, m))
    z["zipf counts"] = rng.poisson(5 / np.arange(1, m + 1) * np.exp(normal((n, 1)))).astype(float)
    z["hadamard"] = scipy.linalg.hadamard(512)[:n, :m].astype(float)
    z["checker blocks"] = np.kron(rng.choice([-1.0, 1], (n // 10, m // 10)), np.ones((10, 10)))
    z["upper tri"] = np.triu(np.ones((n, m)))
    z["distances"] = np.abs(x - y)
    z["signed heavy product"] = rng.standard_cauchy((n, 2)) @ rng.standard_cauchy((2, m))
    return z
