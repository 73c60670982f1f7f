"""Everything that reads a submission's Python as text."""

from __future__ import annotations

from hypothesis import given
from tests.fuzz.hostile_texts import broken, fuzzed, real_models

from cuda_gym.core.device import Device
from cuda_gym.errors import CompileError, Refused, UnsupportedOnDevice
from cuda_gym.judge.toolchains.direct_kernels import launches_directly
from cuda_gym.judge.toolchains.extension_rules import inline_texts
from cuda_gym.judge.verification.extension_calls import Signature, call_warnings
from cuda_gym.judge.verification.operator_warnings import operator_warnings
from cuda_gym.judge.verification.static_checks import check_model

MODELS = broken(real_models(), python=True)
SIGNATURES = {"softmax": Signature(num_arguments=4, signature="softmax(out, x, rows, columns)")}


@fuzzed(150)
@given(MODELS)
def test_the_rules_for_a_model_answer_for_any_text(source: str) -> None:
    try:
        facts = check_model(source, device=Device("cpu"), library=())
    except (CompileError, Refused, UnsupportedOnDevice) as error:
        assert str(error)  # noqa: PT017 - either way is right
        return
    # Whatever the rules let pass is read by all that follows, which has no errors of its own.
    found = [*operator_warnings(source), *call_warnings(source, SIGNATURES, {})]
    assert all(1 <= (warning.line or 1) <= source.count("\n") + 1 for warning in found)
    assert isinstance(facts, tuple)
    assert isinstance(inline_texts(source), dict)
    assert launches_directly(source) in (True, False)
