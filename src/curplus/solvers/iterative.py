"""Cores by iteration: nothing larger than the equations' factors is ever formed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, lsmr

from .._arrays import array_namespace, to_device, to_numpy
from .._typing import Matrix, Vector
from .equations import EntryEquations
from .solver import Found, Solver, norm

__all__ = ["LSMR", "AcceleratedGradient", "ConjugateGradient"]


@dataclass(frozen=True)
class ConjugateGradient(Solver):
    r"""Conjugate gradients on the normal equations, without forming them (CGLS).

    One step costs :math:`O(|\Omega| r + \rho r^2)`, where :math:`\rho` rows are hit. On incoherent data the error
    shrinks by about :math:`\sqrt{r^2/|\Omega|}` a step. The condition is estimated from the coefficients on the way.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the penalty on the norm of Z.
    tol : float, default 1e-13
        Stop when the gradient has shrunk by this factor, or is rounding error.
    max_iter : int, default 2000
        Stop here in any case; the diagnostics then say that it has not converged.
    """

    max_iter: int = 2000

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        residual, z = equations.target, equations.zero()
        slope = direction = equations.adjoint(residual)
        square = norm(slope) ** 2
        steps: list[float] = []
        ratios: list[float] = []
        while math.sqrt(square) > goal and len(steps) < self.max_iter:
            image = equations.apply(direction)
            curvature = norm(image) ** 2 + self.ridge * norm(direction) ** 2
            steps.append(square / curvature)
            z = z + steps[-1] * direction
            residual = residual - steps[-1] * image
            slope = equations.adjoint(residual) - self.ridge * z
            ratios.append(norm(slope) ** 2 / square)
            square *= ratios[-1]
            direction = slope + ratios[-1] * direction
        return Found(z, len(steps), condition=_lanczos_condition(steps, ratios))


@dataclass(frozen=True)
class LSMR(Solver):
    """SciPy's LSMR: as cheap as conjugate gradients, with a residual that shrinks at every step.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the penalty on the norm of Z.
    tol : float, default 1e-13
        Stop when the gradient has shrunk by this factor, or is rounding error.
    max_iter : int, default 2000
        Stop here in any case; the diagnostics then say that it has not converged.
    """

    max_iter: int = 2000

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        xp = array_namespace(equations.left)

        def core(z: Vector) -> Matrix:
            return xp.reshape(to_device(z, equations.left), equations.shape)

        operator = LinearOperator(
            (equations.target.shape[0], math.prod(equations.shape)),
            matvec=lambda z: to_numpy(equations.apply(core(z))),
            rmatvec=lambda e: to_numpy(equations.adjoint(to_device(e, equations.left))).reshape(-1),
            dtype=np.float64,
        )
        # LSMR measures the gradient against ||A|| ||residual||; this is the same goal in its words.
        target = to_numpy(equations.target)
        scale = max(equations.norm() * norm(target), np.finfo(float).tiny)
        atol = goal / scale
        z, _, iterations, *_ = lsmr(
            operator, target, damp=math.sqrt(self.ridge), atol=atol, btol=atol, conlim=0, maxiter=self.max_iter
        )
        return Found(core(z), int(iterations))


@dataclass(frozen=True)
class AcceleratedGradient(Solver):
    """Nesterov's accelerated gradient descent from zero, the method the paper names (Section 3.1).

    The step length is learnt on the way: whenever the curvature met exceeds the one assumed, the assumption is raised.
    Momentum restarts when it points uphill. It takes several times the steps of conjugate gradients; its use is to
    reproduce the paper, where it was stopped early (``max_iter`` small, ``tol=0``), which holds the core back much as
    a ridge does.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the penalty on the norm of Z.
    tol : float, default 1e-13
        Stop when the gradient has shrunk by this factor, or is rounding error; with 0, only ``max_iter`` stops it.
    max_iter : int, default 5000
        Stop here in any case; the diagnostics then say that it has not converged.
    """

    max_iter: int = 5000

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        xp = array_namespace(equations.left)
        z = ahead = equations.zero()
        image = image_ahead = xp.zeros_like(equations.target)
        curvature, momentum, iterations = 0.0, 1.0, 0
        while iterations < self.max_iter:
            slope = equations.adjoint(image_ahead - equations.target) + self.ridge * ahead
            size = norm(slope)
            if size <= goal or size == 0:
                z = ahead
                break
            image_slope = equations.apply(slope)
            curvature = max(curvature, (norm(image_slope) / size) ** 2 + self.ridge)
            z_next, image_next = ahead - slope / curvature, image_ahead - image_slope / curvature
            if float(xp.sum(slope * (z_next - z))) > 0:
                momentum = 1.0
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            push = (momentum - 1) / following
            ahead, image_ahead = z_next + push * (z_next - z), image_next + push * (image_next - image)
            z, image, momentum = z_next, image_next, following
            iterations += 1
        return Found(z, iterations)


def _lanczos_condition(steps: list[float], ratios: list[float]) -> float | None:
    """Condition of the equations, from the tridiagonal matrix that conjugate gradients build on the way."""
    if not steps:
        return None
    a, b = np.asarray(steps), np.asarray(ratios)
    diagonal = 1 / a + np.append(0, b[:-1] / a[:-1])
    values = scipy.linalg.eigvalsh_tridiagonal(diagonal, np.sqrt(b[:-1]) / a[:-1])
    return math.sqrt(values[-1] / values[0]) if values[0] > 0 else None
