"""How long to race, how often, and what is believed of whose clock: for each kind of device."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from cuda_gym.judge.profiling.memory_budget import CONTENTS_BYTES, COPIES, OUTPUTS_BESIDE

__all__ = ["CPU_PLAN", "GPU_PLAN", "REMAPPING_CPU_PLAN", "TimingPlan", "without_counters"]


@dataclass(frozen=True, kw_only=True)
class TimingPlan:
    """How long to race."""

    block_s: float = 0.05
    """Timed seconds of a block, where `max_calls` and `max_content_bytes` allow so many."""
    dropped_calls: int = 1
    """First calls of a block: caches and threads of this process come back. A second one would have nothing new to
    do, and whoever left it out would be ahead of our own clock by a call."""
    min_pairs: int = 10
    max_pairs: int = 20
    wanted_halfwidth: float = 0.02
    """Of the 95 % interval, relative: the race ends when it is reached."""
    brief_us: float = 0.0
    """A call below this is told apart by the start of a kernel: its interval stays wider however long the race is."""
    brief_halfwidth: float = 0.03
    """Likewise, of such a call."""
    max_calls: int = 8
    """A block has no more, however fast a call is: each has new content, which takes longer to make
    than to use. Many short blocks in turns beat few long ones where the machine itself drifts."""
    max_short_calls: int = 64
    """Likewise, of a block that our own clock looks at, where a call takes less than `short_us`: what it cannot
    tell, some dozen microseconds a block, is then less than a call. To check so many takes 0.2 s."""
    short_us: float = 100.0
    max_content_bytes: int = 256 * 1024 * 1024
    """Inputs and outputs of one block."""
    outputs_beside: int = 0
    """As many outputs of a call take their room of these, however many contents there are."""
    min_contents: int = 3
    """However large they are: two timed calls, and what is dropped."""
    min_calls: int = 0
    """Timed calls of a race, where its time and its pairs allow so many."""
    max_race_s: float = 1.8
    """After the least number of pairs the race ends here, whatever the interval is."""
    max_waiting: float = 0.25
    """Share of a pair's time that threads of this machine may wait for a core. Measured: up to 0.2 on a
    quiet machine, without any effect on the times; 0.3 to 1 with one busy neighbour."""
    counts_waiting: bool = True
    """Whether threads that wait for a core disturb a pair."""
    timer: str = "wall"
    """As the fingerprint names the clock."""
    longest_gate_us: float = 0.0
    """How long a device may wait before a call; 0 where the host itself is the device."""
    settle_s: float = 0.004
    """The reference's threads spin for a moment after their last parallel region."""
    credited: float = 1.3
    """Our clock over what is claimed, up to which all is well. Honest submissions reach 1.0 to 1.3: the
    first calls of a block are slower than its fastest."""
    refused: float = 2.0
    hidden_us: float = 5.0
    """A gap a call below this is the harness's own, and neither credited nor refused. Measured on two cores that
    others used: -1 to 5 us for 1,024 elements, up to 10 for 16,384, which `credited` lets pass all but a tenth of."""
    least_us: float = 2.0
    """No call is believed to be shorter: Python alone takes longer to call forward, and that a launcher."""
    compares_best_walls: bool = True
    """Whether our clock compares the best block of the race with the best dry run of it, instead of those of
    one pair: where contents are mapped once, both can only be disturbed upwards."""
    num_audits: int = 0
    """Blocks that our own clock times: sealed, queued behind a gate, and summed up before it stops. Where there are
    any, they alone say what is believed."""
    most_audits: int = 8
    """As many where those before showed more than is claimed. Nobody can make one too short, so one that clears
    suffices; and other users of a device may make one or two too long, which has accused an honest kernel of 3 us."""
    audit_us: float = 1000.0
    """Of all calls of such a block, about."""
    max_audit_calls: int = 50
    audit_slack_us: float = 6.0
    """How far our clock may be off, of such a block: the host takes so long to see a word of the device's."""
    most_reference: float = math.inf
    """What torch.compile is believed to take, as a multiple of the best that was ever seen: a submission may have
    left work on the device that slows it."""
    dry_tolerance: float = 0.25
    """How well a dry run tells what the protocol costs. Measured on two shared cores, 4 MB in and 4 MB
    out: 1.9 ms a call, give or take 0.4. Calls of less than `short_us` hand over too little for that, and get none."""

    def most_contents(self, content_bytes: int) -> int:
        """How many contents there may be at once.

        Args:
            content_bytes: Inputs and outputs of one call.
        """
        return max(self.min_contents, self.max_content_bytes // max(content_bytes, 1))


CPU_PLAN = TimingPlan()
REMAPPING_CPU_PLAN = replace(
    CPU_PLAN,
    hidden_us=30.0,
    short_us=0.0,
    compares_best_walls=False,
)
"""Where Linux does not let inputs be written again (`memory_seals`): to map new ones is a large part of what the
protocol costs, and hides as much."""
GPU_PLAN = TimingPlan(
    block_s=0.01,
    dropped_calls=3,
    min_pairs=4,
    max_pairs=32,
    wanted_halfwidth=0.01,
    brief_us=50.0,
    max_calls=25,
    max_short_calls=25,
    max_content_bytes=CONTENTS_BYTES // COPIES,
    outputs_beside=OUTPUTS_BESIDE // COPIES,
    min_contents=1,
    min_calls=100,
    max_race_s=1.0,
    counts_waiting=False,
    timer="events behind a gate",
    longest_gate_us=2000.0,
    settle_s=0.0,
    credited=1.1,
    refused=1.5,
    hidden_us=1.0,
    least_us=0.5,
    compares_best_walls=False,
    num_audits=1,
    most_reference=1.1,
)
"""A device that does what it is told by itself is steadier than cores that are shared: the ratio of a kernel
to itself repeats within 0.25 % (gpu_timers.md)."""


def without_counters(plan: TimingPlan) -> TimingPlan:
    """The same where Linux does not count who waits for a core: no pair is left out, and the timer says so.

    >>> without_counters(CPU_PLAN).timer
    'wall, without pressure counters'
    """
    return replace(plan, counts_waiting=False, timer=f"{plan.timer}, without pressure counters")
