"""Cores by iteration: nothing larger than the equations' factors is ever formed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, lsmr

from .._arrays import array_namespace, conjugate, double, is_numpy_array, real_part, to_device, to_numpy
from .._typing import Matrix, Vector
from .equations import EntryEquations
from .solver import Found, Solver, norm

__all__ = ["LSMR", "AcceleratedGradient", "ConjugateGradient"]

DIGITS = 1e-5  # by which single precision shrinks a gradient before the residual is computed in double precision
FAST = 50  # steps to do so; if more are needed, all is done in double precision
MANY_PER_UNKNOWN = 100  # entries for each unknown; above, steps are too few for a copy in single precision to pay


class _Begun(NamedTuple):
    """A core on the way to the solution."""

    z: Matrix
    residual: Vector
    slope: Matrix
    steps: int = 0
    condition: float | None = None


@dataclass(frozen=True)
class ConjugateGradient(Solver):
    r"""Conjugate gradients on the normal equations, without forming them (CGLS).

    One step costs :math:`O(|\Omega| r + \rho r^2)`, where :math:`\rho` rows are hit. On incoherent data the error
    shrinks by about :math:`\sqrt{r^2/|\Omega|}` a step. The condition is estimated from the coefficients on the way.
    On the host, steps are made in single precision as long as few are enough, which takes half of the time, and the
    residual after every five digits is computed in double precision: the solution is the same.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the penalty on the norm of Z.
    tol : float, default 1e-13
        Stop when the gradient has shrunk by this factor, or is rounding error.
    max_iter : int, default 2000
        Most steps; ``core.converged`` is then False.
    """

    max_iter: int = 2000

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        z, residual, slope, steps, condition = self._in_single(equations, goal)
        direction = slope
        square = norm(slope) ** 2
        lengths: list[float] = []
        ratios: list[float] = []
        equations = equations.compact() if math.sqrt(square) > goal else equations
        while math.sqrt(square) > goal and steps + len(lengths) < self.max_iter:
            image = equations.apply(direction)
            lengths.append(square / _curvature(image, direction, self.ridge))
            z = z + lengths[-1] * direction
            residual = residual - lengths[-1] * image
            slope = equations.adjoint(residual) - self.ridge * z
            ratios.append(norm(slope) ** 2 / square)
            square *= ratios[-1]
            direction = slope + ratios[-1] * direction
        found = max(condition or 0.0, _lanczos_condition(lengths, ratios) or 0.0)
        return Found(z, steps + len(lengths), condition=found or None)

    def _in_single(self, equations: EntryEquations, goal: float) -> _Begun:
        """The first digits in single precision, a few at a time, as long as they come fast; none if they do not."""
        begun = _Begun(equations.zero(), equations.target, equations.adjoint(equations.target))
        if not is_numpy_array(equations.target) or len(equations.target) > MANY_PER_UNKNOWN * math.prod(
            equations.shape
        ):
            return begun
        while (size := norm(begun.slope)) > goal and begun.steps + FAST <= self.max_iter:
            # The copy in single precision is made anew: it would be in memory beside what double precision needs.
            more = _descent(equations.in_single(), begun.slope / size, max(DIGITS, goal / size), self.ridge)
            z = begun.z + size * double(more.Z)
            residual = equations.target - equations.apply(z)
            slope = equations.adjoint(residual) - self.ridge * z
            steps = begun.steps + more.iterations
            if norm(slope) > max(10 * DIGITS * size, goal):
                return begun._replace(steps=steps)
            begun = _Begun(z, residual, slope, steps, max(begun.condition or 1.0, more.condition or 1.0))
        return begun


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
        Most steps; ``core.converged`` is then False.
    """

    max_iter: int = 2000

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        equations, xp = equations.compact(), array_namespace(equations.left)

        def core(z: Vector) -> Matrix:
            return xp.reshape(to_device(z, equations.left), equations.shape)

        operator = LinearOperator(
            (equations.target.shape[0], math.prod(equations.shape)),
            matvec=lambda z: to_numpy(equations.apply(core(z))),
            rmatvec=lambda e: to_numpy(equations.adjoint(to_device(e, equations.left))).reshape(-1),
            dtype=to_numpy(equations.target).dtype,
        )
        # LSMR measures the gradient against ||A|| ||residual||; this is the same goal in its terms.
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

    The step length follows the largest curvature found so far. Momentum restarts when it points uphill. It takes
    several times the steps of conjugate gradients; its use is to reproduce the paper, where it was stopped early
    (``max_iter`` small, ``tol=0``), which shrinks the core much as a ridge does.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the penalty on the norm of Z.
    tol : float, default 1e-13
        Stop when the gradient has shrunk by this factor, or is rounding error; with 0, only ``max_iter`` stops it.
    max_iter : int, default 5000
        Most steps; ``core.converged`` is then False.
    """

    max_iter: int = 5000

    def _solve(self, equations: EntryEquations, goal: float) -> Found:
        equations, xp = equations.compact(), array_namespace(equations.left)
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
            if float(real_part(xp.sum(conjugate(slope) * (z_next - z)))) > 0:
                momentum = 1.0
            following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
            push = (momentum - 1) / following
            ahead, image_ahead = z_next + push * (z_next - z), image_next + push * (image_next - image)
            z, image, momentum = z_next, image_next, following
            iterations += 1
        return Found(z, iterations)


def _descent(equations: EntryEquations, slope: Matrix, goal: float, ridge: float) -> Found:
    """A few conjugate gradients to the core that takes away a slope of norm one, in the precision of the equations."""
    z, rest = equations.zero(), array_namespace(slope).astype(slope, equations.left.dtype)
    direction, square = rest, norm(rest) ** 2
    lengths: list[float] = []
    ratios: list[float] = []
    while math.sqrt(square) > goal and len(lengths) < FAST:
        image = equations.apply(direction)
        lengths.append(square / _curvature(image, direction, ridge))
        z = z + lengths[-1] * direction
        rest = rest - lengths[-1] * (equations.adjoint(image) + ridge * direction)
        ratios.append(norm(rest) ** 2 / square)
        square *= ratios[-1]
        direction = rest + ratios[-1] * direction
    return Found(z, len(lengths), condition=_lanczos_condition(lengths, ratios))


def _curvature(image: Vector, direction: Matrix, ridge: float) -> float:
    """How fast the gradient grows along a direction, times its square; a norm that is not needed is not waited for."""
    return norm(image) ** 2 + (ridge * norm(direction) ** 2 if ridge else 0.0)


def _lanczos_condition(steps: list[float], ratios: list[float]) -> float | None:
    """Condition of the equations, from the tridiagonal matrix that conjugate gradients build on the way."""
    if not steps:
        return None
    a, b = np.asarray(steps), np.asarray(ratios)
    diagonal = 1 / a + np.append(0, b[:-1] / a[:-1])
    values = scipy.linalg.eigvalsh_tridiagonal(diagonal, np.sqrt(b[:-1]) / a[:-1])
    return math.sqrt(values[-1] / values[0]) if values[0] > 0 else None
