from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_gym.judge.sandbox.messages import (
    Failed,
    Load,
    Ran,
    Reply,
    Run,
    TensorSpec,
)
from cuda_gym.judge.sandbox.protocol import ProtocolError, decode, encode

KERNEL = {"name": "k", "launches": 1, "total_ns": 5, "grid": [1, 1, 1], "block": [32, 1, 1]}
names = st.text(min_size=1, max_size=8)
specs = st.builds(
    TensorSpec,
    dtype=names,
    shape=st.lists(st.integers(0, 99), max_size=4).map(tuple),
    offset=st.integers(0, 1 << 40),
)
messages = st.one_of(
    st.builds(Failed, kind=names, message=st.text()),
    st.builds(
        Ran,
        call_ns=st.lists(st.integers(0, 1 << 60)).map(tuple),
        launches=st.integers(0, 9),
        library_calls=st.integers(0, 9),
        places=st.lists(st.lists(st.integers(0, 1 << 60), max_size=3).map(tuple)).map(tuple),
    ),
    st.builds(
        Run,
        inputs=st.just(({"list": []},)),
        outputs=st.lists(st.lists(specs, max_size=2).map(tuple), max_size=2).map(tuple),
        poison=st.booleans(),
        dry=st.booleans(),
    ),
    st.builds(
        Load,
        source=st.text(),
        library=names,
        launchers=st.just(()),
        kernels=st.just(()),
        allowed_library=st.lists(names, max_size=2).map(tuple),
        init_args=st.none(),
        num_threads=st.integers(1, 64),
    ),
)


@given(messages)
@settings(max_examples=60, deadline=None)
def test_a_message_is_read_back_as_it_was_said(message: Failed | Ran | Run | Load) -> None:
    assert decode(encode(message), (type(message),)) == message


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_arbitrary_bytes_are_a_protocol_error(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode(data, (Ran, Failed))


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=8))
@settings(max_examples=60, deadline=None)
def test_arbitrary_fields_are_a_protocol_error(junk: object) -> None:
    plain = {
        "v": 1,
        "type": "Ran",
        "call_ns": junk,
        "launches": 1,
        "library_calls": junk,
        "findings": "",
        "host_ns": [],
        "num_ungated": 0,
        "kernels": [],
        "places": [],
    }
    with pytest.raises(ProtocolError):
        decode(json.dumps(plain).encode(), (Ran,))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"v": 2}, "version 1"),
        ({"type": "Load"}, "Ran or Failed was due; Load came"),
        ({"type": "Ghost"}, "something else came"),
        ({"launches": True}, "launches is no int"),
        ({"launches": 1.5}, "launches is no int"),
        ({"call_ns": [1, "2"]}, "call_ns is no int"),
        ({"findings": None}, "findings is no str"),
        ({"extra": 0}, "has the fields"),
        ({"kernels": [KERNEL | {"total_ns": "much"}]}, "total_ns is no int"),
        ({"kernels": [KERNEL | {"grid": [1, None]}]}, "grid is no int"),
        ({"kernels": [7]}, "KernelClaim has the fields"),
        ({"places": [[4096, 1.5]]}, "places is no int"),
        ({"places": [4096]}, "places is no"),
    ],
)
def test_what_is_out_of_order_is_named(change: dict[str, object], words: str) -> None:
    counts = {"launches": 1, "library_calls": 0, "num_ungated": 0}
    ran = {"v": 1, "type": "Ran", "call_ns": [1], "host_ns": [1], "findings": ""} | counts
    plain = ran | {"kernels": [KERNEL], "places": [[4096, 3, 1], []]} | change
    with pytest.raises(ProtocolError, match=words):
        decode(json.dumps(plain).encode(), (Ran, Failed))


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ProtocolError, match="call_ns"):
        decode(b'{"v": 1, "type": "Ran", "launches": 1, "library_calls": 0}', (Ran,))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_not_finite_is_refused(number: str) -> None:
    with pytest.raises(ProtocolError, match="no number"):
        decode(f'{{"v": 1, "type": "Reply", "value": {number}}}'.encode(), (Reply,))


def test_deep_nesting_is_a_protocol_error() -> None:
    with pytest.raises(ProtocolError):
        decode(b"[" * 100_000, (Reply,))


def test_half_a_surrogate_pair_becomes_text() -> None:
    body = b'{"v": 1, "type": "Failed", "kind": "raised", "message": "a\\ud800b"}'
    assert decode(body, (Failed,)).message == "a?b"
