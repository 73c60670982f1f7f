from __future__ import annotations

import pytest
import torch

from cuda_gym.core.task import Task
from cuda_gym.judge.verification.admission import admit
from cuda_gym.judge.verification.reference_module import ReferenceModule
from cuda_gym.tasks.registry import list_tasks, load_task

CORE = list_tasks("core")


def _references(name: str, *inputs: torch.Tensor) -> torch.Tensor:
    """What the reference of a core task makes of inputs of our own."""
    result = ReferenceModule.of(load_task(f"core/{name}")).make_model(seed=0)(*inputs)
    assert isinstance(result, torch.Tensor)
    return result


@pytest.mark.parametrize("task", CORE, ids=lambda task: task.id)
def test_every_core_task_is_admitted_with_a_hidden_batch_size(task: Task) -> None:
    admission = admit(ReferenceModule.of(task), seed=0)
    assert admission.notes == ()
    assert {"batch_size", "num_rows"} & set(admission.free_dimensions)


@pytest.mark.parametrize("task", CORE, ids=lambda task: task.id)
def test_every_core_task_says_what_it_is(task: Task) -> None:
    assert task.title != task.id.removeprefix("core/")
    assert task.family != "other"
    assert task.band is not None
    assert task.library == (("gemm",) if task.id == "core/mlp_block" else ())


def test_cross_entropy_of_equal_logits_is_the_logarithm_of_their_number() -> None:
    losses = _references("cross_entropy", torch.zeros(3, 8), torch.tensor([0, 7, 2]))
    assert losses.shape == (3,)
    assert torch.allclose(losses, torch.tensor(8.0).log())


def test_the_border_of_max_pooling_never_wins() -> None:
    pooled = _references("max_pool2d", torch.full((1, 1, 5, 7), -3.0))
    assert torch.equal(pooled, torch.full((1, 1, 3, 4), -3.0))


def test_rmsnorm_makes_the_sum_of_its_inputs_of_unit_mean_square() -> None:
    x = torch.full((2, 1024), 3.0)
    model = ReferenceModule.of(load_task("core/rmsnorm_residual")).make_model(seed=0)
    normalised = model(x, 4 * x) / model.get_parameter("weight")
    assert torch.allclose(normalised, torch.ones(2, 1024), atol=1e-4)


def test_transposed_means_moved_not_viewed() -> None:
    assert _references("transpose", torch.randn(3, 5)).is_contiguous()


def test_swiglu_passes_the_second_half_where_the_first_is_large() -> None:
    gated = _references("swiglu", torch.tensor([[50.0, 0.0, -50.0, 3.0, 4.0, 5.0]]))
    assert torch.allclose(gated, torch.tensor([[150.0, 0.0, 0.0]]))


def test_a_hard_swish_of_what_is_very_negative_leaves_the_residual() -> None:
    residual = torch.randn(2, 768)
    model = ReferenceModule.of(load_task("core/hardswish_residual")).make_model(seed=0)
    x = -100.0 * model.get_parameter("scale").sign()
    scale, shift = model.get_parameter("scale"), model.get_parameter("shift")
    is_low = x * scale + shift < -3.0
    assert is_low.any()
    assert torch.equal(model(x.expand(2, -1), residual)[:, is_low], residual[:, is_low])


def test_a_step_of_adamw_is_that_of_pytorch() -> None:
    reference = ReferenceModule.of(load_task("core/adamw_step"))
    weight, gradient, moment, root = reference.make_inputs(seed=3)
    parameter = torch.nn.Parameter(weight.clone())
    parameter.grad = gradient
    optimiser = torch.optim.AdamW([parameter], lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1)
    state = {"step": torch.tensor(9.0), "exp_avg": moment.clone(), "exp_avg_sq": root.square()}
    optimiser.state[parameter].update(state)
    optimiser.step()
    ours = reference.run(reference.make_model(seed=0), [weight, gradient, moment, root])
    theirs = optimiser.state[parameter]
    assert torch.allclose(ours[0], parameter.detach(), atol=1e-6)
    assert torch.allclose(ours[1], theirs["exp_avg"], atol=1e-6)
    assert torch.allclose(ours[2], theirs["exp_avg_sq"].sqrt(), atol=1e-6)


def test_the_mean_over_tokens_keeps_the_features() -> None:
    x = torch.tensor([[[1.0, 10.0], [3.0, 20.0]]])
    assert torch.equal(_references("token_mean", x), torch.tensor([[2.0, 15.0]]))


def test_batch_norm_at_inference_turns_the_running_mean_into_the_bias() -> None:
    model = ReferenceModule.of(load_task("core/batch_norm_relu")).make_model(seed=0)
    x = model.get_buffer("running_mean").view(1, 64, 1, 1).expand(2, 64, 3, 5)
    bias = model.get_parameter("bias").view(1, 64, 1, 1).expand(2, 64, 3, 5)
    assert torch.allclose(model(x), bias.relu())


def test_a_column_sum_leaves_one_number_a_column() -> None:
    assert torch.equal(_references("column_sum", torch.ones(3, 5)), torch.full((5,), 3.0))


def test_argmax_points_at_a_largest_element_of_each_row() -> None:
    x = torch.tensor([[1.0, 5.0, 2.0, 5.0], [-3.0, -4.0, -5.0, -9.0]])
    positions = _references("argmax_rows", x)
    assert positions.dtype == torch.int64
    assert x.gather(1, positions[:, None]).flatten().tolist() == [5.0, -3.0]


def test_the_prefix_sums_of_ones_count() -> None:
    assert _references("prefix_sum", torch.ones(2, 4)).tolist() == [[1.0, 2.0, 3.0, 4.0]] * 2


@pytest.mark.parametrize(
    ("name", "shape"), [("layer_norm", (3, 1024)), ("group_norm", (3, 64, 8, 8))]
)
def test_a_normalised_group_has_mean_zero_and_unit_variance(
    name: str, shape: tuple[int, ...]
) -> None:
    model = ReferenceModule.of(load_task(f"core/{name}")).make_model(seed=0)
    spread = (-1, *(1,) * (len(shape) - 2))
    weight, bias = (model.get_parameter(which).view(spread) for which in ("weight", "bias"))
    groups = 1 if name == "layer_norm" else 8
    normalised = ((model(5.0 + 2.0 * torch.randn(shape)) - bias) / weight).view(3 * groups, -1)
    variance, mean = torch.var_mean(normalised, dim=-1, correction=0)
    assert torch.allclose(mean, torch.zeros_like(mean), atol=1e-4)
    assert torch.allclose(variance, torch.ones_like(variance), atol=1e-4)


def test_a_log_softmax_is_the_logarithm_of_a_distribution() -> None:
    scores = _references("log_softmax", 100.0 * torch.randn(4, 9))
    assert torch.allclose(scores.exp().sum(dim=-1), torch.ones(4))


def test_a_row_of_zeros_has_no_direction() -> None:
    rows = _references("l2_normalise", torch.tensor([[3.0, -4.0], [0.0, 0.0]]))
    assert torch.allclose(rows, torch.tensor([[0.6, -0.8], [0.0, 0.0]]))


def test_a_teacher_who_is_sure_makes_a_plain_cross_entropy() -> None:
    student, targets = torch.randn(4, 7), torch.tensor([0, 6, 3, 3])
    teacher = 1000.0 * torch.nn.functional.one_hot(targets, 7)
    losses = _references("soft_cross_entropy", student, teacher)
    assert torch.allclose(
        losses, torch.nn.functional.cross_entropy(student, targets, reduction="none")
    )


def test_the_first_position_of_causal_attention_sees_only_itself() -> None:
    query, key, value = torch.randn(3, 2, 1, 5, 8)
    attended = _references("attention", query, key, value)
    assert torch.allclose(attended[:, :, 0], value[:, :, 0])
    assert not torch.allclose(attended[:, :, 1], value[:, :, 1])


def test_a_rotary_embedding_turns_pairs_and_keeps_their_length() -> None:
    x = torch.randn(1, 3, 2, 64)
    turned = _references("rotary_embedding", x)
    assert torch.equal(turned[:, 0], x[:, 0])
    before, after = (pairs.view(3, 2, 2, 32).norm(dim=-2) for pairs in (x, turned))
    assert torch.allclose(before, after, atol=1e-5)
    assert not torch.allclose(turned[:, 1:], x[:, 1:], atol=0.1)


def test_rows_with_one_index_are_added_up_and_the_others_stay_zero() -> None:
    sums = _references("index_add", torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([7, 2, 7]))
    assert sums.flatten().nonzero().flatten().tolist() == [2, 7]
    assert sums[[2, 7], 0].tolist() == [2.0, 5.0]


def test_a_shuffled_pixel_is_a_block_of_four_channels() -> None:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 4, 1, 1)
    assert _references("pixel_shuffle", x).tolist() == [[[[1.0, 2.0], [3.0, 4.0]]]]


def test_int8_is_widened_before_it_is_scaled() -> None:
    quantised = torch.tensor([[-127, 127], [1, -2]], dtype=torch.int8)
    widened = _references("dequantise_int8", torch.tensor([2.0, 0.5]), quantised)
    assert widened.tolist() == [[-254.0, 254.0], [0.5, -1.0]]


def test_squares_of_half_precision_do_not_overflow_in_its_layer_norm() -> None:
    x = torch.tensor([-300.0, 300.0], dtype=torch.float16).repeat(2, 512)
    model = ReferenceModule.of(load_task("core/half_layer_norm")).make_model(seed=0)
    normalised = (model(x) - model.get_parameter("bias")) / model.get_parameter("weight")
    assert torch.allclose(normalised, x.sign(), atol=0.01)


def test_a_depthwise_convolution_mixes_no_channels() -> None:
    x = torch.randn(1, 32, 5, 5)
    changed = x.clone()
    changed[:, 3] = 0.0
    difference = _references("depthwise_conv3x3", x) - _references("depthwise_conv3x3", changed)
    assert difference.flatten(2).any(dim=-1).flatten().nonzero().tolist() == [[3]]
