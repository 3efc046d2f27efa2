"""From parts to an observation: values are checked, and each place gets one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .agreement import check_agreement, check_records
from .checks import check_range
from .gaps import without_gap_records
from .noise import repeats_within
from .places import one_value_each
from .plan import SamplingDesign
from .symmetry import check_symmetric

if TYPE_CHECKING:
    from .observation import Observation

__all__ = ["settled"]


def settled(observation: Observation) -> Observation:
    """An observation whose values are checked and that has one value for each place, gaps filled where they can be."""
    design = SamplingDesign(*observation.design.of(observation.counts))
    if observation.gaps:
        observation = observation._replaced(**without_gap_records(observation))
    magnitude = observation.magnitude
    check_range(magnitude, observation.shape, observation.values)
    exact = observation.noise is None
    if not exact:
        check_agreement(observation, observation, magnitude)
        check_records(observation, magnitude)
    whole, repeats = one_value_each(observation)
    if exact:
        check_agreement(whole, whole, magnitude)
    elif observation.repeats is None:
        whole._set(repeats=repeats.join(repeats_within(whole)))
    check_symmetric(whole, magnitude)
    whole._set(design=design.of(whole.counts), magnitude=magnitude if exact else whole.magnitude)
    return whole
