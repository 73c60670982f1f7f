"""A right kernel may round another way than the reference does, and a wrong one may not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from cuda_gym.judge.verification.close_calls import CloseCalls
from cuda_gym.judge.verification.inputs import DrawKind
from cuda_gym.judge.verification.trial import Trial

MakeTrial = Callable[..., Trial]
QUANTISE = "return torch.round(x / 0.037).clamp(-128, 127).to(torch.int8)"
DYNAMIC = "return torch.round(x / (x.abs().amax() / 127.0)).to(torch.int8)"
INPUTS = "torch.randn(256, 1024)"


def by_reciprocal(x: Tensor) -> Tensor:
    return torch.round(x * torch.tensor(1.0 / 0.037)).clamp(-128, 127).to(torch.int8)


def by_reciprocal_of_the_largest(x: Tensor) -> Tensor:
    return torch.round(x * (127.0 / x.abs().amax())).to(torch.int8)


@pytest.mark.parametrize(
    ("forward", "kernel"),
    [(QUANTISE, by_reciprocal), (DYNAMIC, by_reciprocal_of_the_largest)],
)
def test_a_quotient_by_way_of_a_reciprocal_is_right(
    make_trial: MakeTrial, forward: str, kernel: Callable[[Tensor], Tensor]
) -> None:
    num_missed = 0
    for seed in range(12):
        torch.manual_seed(seed)
        trial = make_trial(forward, torch.randn(256, 1024))
        got = kernel(trial.draw.inputs[0])
        num_missed += not torch.equal(got, trial.expected[0].value)
        assert trial.judge([got]).passed
        assert trial.accepts([got])
    assert num_missed > 0, "else equality would do"


@pytest.mark.parametrize("forward", [QUANTISE, DYNAMIC])
def test_few_elements_are_close_and_all_others_stay_exact(
    make_trial: MakeTrial, forward: str
) -> None:
    trial = make_trial(forward, INPUTS)
    want = trial.expected[0]
    assert want.close is not None
    assert 0 < len(want.close.places) < 1e-3 * want.value.numel()
    far = torch.ones(want.value.numel(), dtype=torch.bool)
    far[want.close.places] = False
    wrong = want.value.clone()
    wrong.view(-1)[int(far.nonzero()[7])] += 1
    findings = trial.judge([wrong])
    assert findings.num_wrong == 1
    assert not trial.accepts([wrong])
    off_by_two = want.value.clone()
    place = want.close.places[0]
    off_by_two.view(-1)[place] += 2 * (want.close.values[0] - off_by_two.view(-1)[place])
    assert not trial.judge([off_by_two]).passed


def test_a_comparison_that_is_close_may_come_out_either_way(make_trial: MakeTrial) -> None:
    x = torch.rand(64, 64)
    x[3, 5] = 0.5
    trial = make_trial("return x * 3.0 > 1.5", x)
    got = trial.expected[0].value.clone()
    got[3, 5] = True
    assert trial.judge([got]).passed
    got[3, 6] = ~got[3, 6]
    assert not trial.judge([got]).passed


@pytest.mark.parametrize("by", [0.037, "each"])
def test_every_number_that_is_three_units_from_another_is_found(
    make_trial: MakeTrial, by: float | str
) -> None:
    torch.manual_seed(3)
    x = torch.randn(2048, 1024)
    divisors = [torch.rand_like(x).mul_(0.01).add_(0.03)] if by == "each" else []
    divisor = divisors[0] if divisors else torch.tensor(by)
    quotient = x.double() / divisor.double()
    to_a_tie = (quotient.abs() % 1.0 - 0.5).abs() / quotient.abs()
    near = (to_a_tie < 3 * 2**-24).flatten().nonzero().flatten()
    assert len(near) > 10
    body = f"return torch.round(x / {'y' if divisors else by}).to(torch.int32)"
    close = make_trial(body, x, *divisors).expected[0].close
    assert close is not None
    assert set(near.tolist()) <= set(close.places.tolist())


def test_a_tie_of_whole_numbers_is_no_accident(make_trial: MakeTrial) -> None:
    x = torch.arange(4096.0).view(64, 64)
    trial = make_trial("return x > 500.0", x)
    assert not trial.judge([x >= 500.0]).passed


def test_beside_whole_numbers_fractions_are_close_all_the_same(make_trial: MakeTrial) -> None:
    x, y = torch.rand(64, 64), torch.randint(0, 2, (64, 64)).float()
    x[3, 5] = 0.5
    trial = make_trial("return (x * 3.0 > 1.5) == (y == 1.0)", x, y)
    got = trial.expected[0].value.clone()
    got[3, 5] = ~got[3, 5]
    assert trial.judge([got]).passed


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_numbers_that_torch_cannot_order_are_exact(make_trial: MakeTrial, dtype: str) -> None:
    trial = make_trial(f"return (x * 100.0).to(torch.{dtype})", "torch.rand(64, 64)")
    assert trial.expected[0].close is None
    assert trial.judge([trial.expected[0].value]).passed


def test_what_no_fraction_has_a_part_in_is_exact(make_trial: MakeTrial) -> None:
    trial = make_trial("return x * 2", "torch.randint(0, 9, (64, 64))")
    assert trial.expected[0].close is None


def test_an_output_that_changes_everywhere_is_exact(make_trial: MakeTrial) -> None:
    trial = make_trial("return torch.round(x * 1e8).to(torch.int64) % 2", "torch.rand(64, 64)")
    assert trial.expected[0].close is None


def test_an_output_whose_size_rests_on_fractions_is_exact(make_trial: MakeTrial) -> None:
    x = torch.rand(64, 64)
    x[3, 5] = 0.5
    trial = make_trial("return (x * 3.0 > 1.5).nonzero()", x)
    assert trial.expected[0].close is None


def test_no_input_is_moved_beyond_those_that_there_are(make_trial: MakeTrial) -> None:
    body = "assert 0.25 <= x.min() and x.max() <= 1.0\nreturn (x * 4.0).to(torch.int32)"
    x = torch.rand(64, 64).clamp_(0.25, 1.0)
    x[0, 0], x[0, 1], x[0, 2] = 0.25, 1.0, 0.5
    close = make_trial(body.replace("\n", "\n        "), x).expected[0].close
    assert close is not None
    assert 2 in close.places.tolist()


@pytest.mark.parametrize("kind", [DrawKind.ORDINARY, DrawKind.SPIKY])
def test_a_reference_that_bears_no_other_inputs_is_exact(
    make_trial: MakeTrial, kind: DrawKind
) -> None:
    body = (
        "self.seen = getattr(self, 'seen', x)\n"
        "        if not torch.equal(x.float(), self.seen.float()): raise ValueError('others')\n"
        "        return torch.round(x).to(torch.int32)"
    )
    trial = make_trial(body, "torch.rand(64, 64)", kind=kind)
    assert trial.expected[0].close is None
    assert trial.judge([torch.round(trial.draw.inputs[0]).to(torch.int32)]).passed


def test_pieces_have_the_other_numbers_in_their_own_places() -> None:
    close = CloseCalls(places=torch.tensor([1, 4, 5]), values=torch.tensor([10, 40, 50]))
    expected = torch.arange(8)
    assert close.beside(expected.view(2, 4), 0).tolist() == [[0, 10, 2, 3], [40, 50, 6, 7]]
    assert close.beside(expected[4:].view(2, 2), 4).tolist() == [[40, 50], [6, 7]]
    assert expected.tolist() == list(range(8))
