"""Training itself: one thread, given seeds, the same weights each time on the same machine."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.optim import swa_utils

from training.export import Early
from training.network import Network, frame_logits
from training.pictures import Picture
from training.samples import UNKNOWN, Sample, Sampler

BATCH: Final = 16
RATE: Final = 3e-4
_FIRST_VERDICTS_SEED: Final = 1
"""Networks of all seeds begin with the same verdicts: the mean of three that didn't told failures
apart worse than each of them."""
_WARM_UP_STEPS: Final = 40
_AVERAGED: Final = 0.99
"""Each step's weights count so much less for every step after it: a mean of the last hundred,
which makes a shrinking learning rate needless, so that training may stop at any step."""
_REPORT_EVERY: Final = 20
_KEEP_EVERY: Final = 25
_STRONGEST_GRADIENT: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Batch:
    pixels: Tensor
    places: Tensor
    failed: Tensor
    weight: Tensor


def fit(
    pictures: list[Picture],
    rendered: list[Picture],
    backbone: Path,
    steps: int,
    seed: int,
    kept_in: Path,
) -> Network:
    """Train for so many steps; every 25th state is kept as kept_in/step-N.pt.

    seed: of what is shown, and in which order.
    """
    torch.set_num_threads(1)
    torch.manual_seed(_FIRST_VERDICTS_SEED)
    random = Random(seed)
    network = Network()
    network.load_backbone(backbone)
    network.freeze_first_blocks()
    average = swa_utils.get_ema_multi_avg_fn(  # type: ignore[no-untyped-call]  # it has no types
        _AVERAGED
    )
    averaged = swa_utils.AveragedModel(network, multi_avg_fn=average)
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=RATE, weight_decay=1e-4)
    sampler = Sampler(pictures, rendered)
    kept_in.mkdir(parents=True, exist_ok=True)
    early = Early(network, kept_in)
    losses: list[float] = []
    for step in range(1, steps + 1):
        optimiser.param_groups[0]["lr"] = RATE * min(1.0, step / _WARM_UP_STEPS)
        batch = _batch([sampler.draw(random) for _ in range(BATCH)])
        loss = _loss(network.late(early.of(batch.pixels)), batch)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without types
        torch.nn.utils.clip_grad_norm_(learned, _STRONGEST_GRADIENT)
        optimiser.step()
        averaged.update_parameters(network)
        losses.append(float(loss.detach()))
        if step % _REPORT_EVERY == 0:
            print(f"step {step}: loss {np.mean(losses[-_REPORT_EVERY:]):.4f}", file=sys.stderr)
        if step % _KEEP_EVERY == 0 or step == steps:
            torch.save(averaged.module.state_dict(), kept_in / f"step-{step}.pt")
    return load_fitted(kept_in / f"step-{steps}.pt")


def mean_of(networks: Sequence[Network]) -> Network:
    """The network whose weights are the means of these, which began with the same ones."""
    states = [network.state_dict() for network in networks]
    mean = Network()
    mean.load_state_dict(
        {name: sum(state[name] for state in states) / len(states) for name in states[0]}
    )
    return mean.eval()


def load_fitted(path: Path) -> Network:
    network = Network()
    network.load_state_dict(torch.load(path, weights_only=True))
    return network.eval()


def _batch(samples: list[Sample]) -> _Batch:
    return _Batch(
        torch.from_numpy(np.stack([sample.pixels for sample in samples])),
        torch.from_numpy(np.stack([sample.places for sample in samples])),
        torch.tensor([float(sample.failed) for sample in samples]),
        torch.tensor([sample.weight for sample in samples]),
    )


def _loss(verdicts: Tensor, batch: _Batch) -> Tensor:
    """What places get wrong, and what the whole picture's verdict gets wrong."""
    known = (batch.places != UNKNOWN).sum().clamp(min=1)
    places = functional.cross_entropy(verdicts, batch.places, ignore_index=UNKNOWN, reduction="sum")
    frames = functional.binary_cross_entropy_with_logits(
        frame_logits(verdicts), batch.failed, reduction="none"
    )
    return places / known + (frames * batch.weight).mean()
