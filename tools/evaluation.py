"""The verdict on a candidate, with the evidence of every stage (DESIGN 4.2)."""

from dataclasses import asdict, dataclass, field
from typing import Any

VERDICTS = (
    "pass", "no_code", "syntax_error", "import_error", "missing_entry", "compile_error", "launch_error", "runtime_error",
    "device_mismatch", "wrong_shape", "wrong_dtype", "wrong_numeric", "nonfinite", "nondeterministic", "input_mutated",
    "aliasing", "out_of_bounds", "data_race", "not_triton", "timeout", "oom", "crash", "forbidden", "suspected_hack",
    "below_floor", "unsupported", "task_invalid", "infra_error",
)  # fmt: skip
NO_VERDICT = frozenset({"unsupported", "task_invalid", "infra_error"})
"""Verdicts that never count against a candidate."""
STAGES = ("parse", "static", "import", "compile", "correctness", "adversarial", "timing", "profile")


@dataclass
class Failure:
    """Why a stage failed: `kind` is the verdict, `message` one line, `detail` what a model can use (numbers, compiler lines)."""

    kind: str
    message: str
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass
class CaseResult:
    """One case by the judge's comparison; numbers are null where form or values gave none. `kind` is the verdict of this case alone."""

    case: str
    held_out: bool
    ok: bool
    max_abs: float | None = None
    rel_rms: float | None = None
    worst_index: list[int] | None = None
    matched: float | None = None
    tolerance: float | None = None
    kind: str = "pass"
    message: str = ""
    first_index: list[int] | None = None
    """The first wrong element; `worst_index` is the one furthest beyond its `tolerance` (absolute, of that element), and `matched` the
    share within it. `max_abs` and `rel_rms` are errors against the fp64 oracle.
    """


@dataclass
class TimedSize:
    """Medians in microseconds on the device; `ci` is the 95 % bootstrap interval of the speedup."""

    case: str
    baseline_us: float
    candidate_us: float
    speedup: float
    ci: list[float]
    baseline_host_us: float | None = None
    """What the host needs to enqueue a call, wrapper and launches: no part of the speedup, and self-reported."""
    candidate_host_us: float | None = None
    slope_us: float | None = None
    """Device microseconds per call of the candidate by the judge's clock: wall-clock slope less what the baseline shows a call costs."""
    floor_us: float | None = None
    """What the hardware's peaks allow at best for the task's least traffic and arithmetic; null where they are not known."""
    warm: dict[str, Any] | None = None
    """With the L2 cache as the last call left it: `{baseline_us, candidate_us, speedup, ci}`."""
    compile: dict[str, Any] | None = None
    """Against `torch.compile` of the reference: `{baseline_us, candidate_us, speedup, ci}`, or `{error}`."""


@dataclass
class Timing:
    """Measured on a device, never modelled. `speedup` is the geometric mean over sizes, cold L2, against `baseline`."""

    baseline: str
    sizes: list[TimedSize]
    speedup: float
    ci: list[float]
    claim_ok: bool | None = None
    method: str = ""
    """The clock (events or CUPTI) and the protocol, in words."""
    compile_speedup: float | None = None
    """Geometric mean over sizes against `torch.compile`, where every size has it."""
    warm_speedup: float | None = None
    self_ratio: float | None = None
    """The baseline timed against itself in the same window; outside [0.98, 1.02] the host is `noisy`."""
    noisy: bool = False
    clocks: list[dict[str, Any]] = field(default_factory=list)
    """Samples before, between and after sizes: SM and memory MHz, power, temperature, throttle reasons. Recorded, never changed."""
    tuning_s: float | None = None
    """What autotuning took before the clock started."""
    notes: list[str] = field(default_factory=list)
    """What weakens these numbers, in sentences: a floor that could not be held against them, clocks held down, other processes."""


@dataclass
class Evaluation:
    candidate_sha: str
    task_id: str
    task_sha: str = ""
    environment_sha: str = ""
    """Digest of mode, hardware and versions. With candidate, task and settings it is what a verdict depends on."""
    settings_sha: str = ""
    mode: str = ""
    """`simulated` or `device`."""
    platform: str = ""
    """The vendor's platform, as `tools.platforms` names it; `device` is the model's name. Of the simulated device both are its own."""
    device: str = ""
    verdict: str = "infra_error"
    stage: str = "parse"
    """The last stage that was reached."""
    compiled: bool = False
    """The module was imported, and every kernel that was launched compiled for every target."""
    correct: bool = False
    """What the numbers said, held-out cases included: only the verdict `pass` is success."""
    error: Failure | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """Static facts about the source, for reports; they decide nothing."""
    cases: list[CaseResult] = field(default_factory=list)
    compile: list[dict[str, Any]] = field(default_factory=list)
    """Per target: `{target, kernels [{name, registers, spills, shared_bytes, occupancy}], seconds, error}`. Kernels that were first built
    for a held-out case are marked `held_out`."""
    launches: int | None = None
    """Of the candidate's kernels, in calls on shown cases."""
    memory: dict[str, Any] | None = None
    """What the interpreter's instruments saw: `out_of_bounds` and `races` (lists of findings), `advisories` (sentences), and for the
    largest case `sectors_loaded`, `sectors_stored` (bytes in 32-byte sectors), `minimal_bytes`, `flops`, `launches`."""
    adversarial: list[dict[str, Any]] = field(default_factory=list)
    """What the adversarial stage tried: `{check, ok, message, held_out}`, in order, up to the first that failed."""
    torch_work: list[dict[str, Any]] = field(default_factory=list)
    """Operators of torch that the candidate's calls on shown cases dispatched: `{op, calls, elements, compute}`."""
    timing: Timing | None = None
    no_timing: str = ""
    """Why `timing` is null."""
    modelled: dict[str, Any] | None = None
    """Simulated mode, as `tools.modelled.record`: `{label, hardware, speedup, bound, sizes, counts, others, extrapolation}`, times in
    microseconds; or `{label, speedup: null, error}`. Never a measured speedup.
    """
    profile: dict[str, Any] | None = None
    """Device mode: `roofline` (by size, `tools.profile.Achieved`), `kernels` (shares of device time), and on request `ncu` (counters);
    a part that failed is `{error}`.
    """
    isolation: dict[str, Any] = field(default_factory=dict)
    """`level`, its `layers`, and the actions that were seen to be `denied` when the walls were tried."""
    data_path: str = ""
    """Where arguments and results were passed: host or device memory, and why not the device's."""
    versions: dict[str, str] = field(default_factory=dict)
    resources: dict[str, float] = field(default_factory=dict)
    """`wall_s` of all, `<stage>_s` of each stage, `gpu_s` with the GPU held alone, `max_rss` of the sandbox in bytes."""
    logs: dict[str, Any] = field(default_factory=dict)
    """`stdout`, `stderr`, `truncated`, and `held_out`: what was printed while held-out cases ran."""

    @property
    def success(self) -> bool:
        return self.verdict == "pass"

    @property
    def speedup(self) -> float | None:
        """Measured speedup against the baseline (> 1 is faster), or None with `no_timing` as the reason."""
        return self.timing.speedup if self.timing else None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Evaluation":
        data = dict(data)
        if data.get("error"):
            data["error"] = Failure(**data["error"])
        data["cases"] = [CaseResult(**c) for c in data.get("cases", [])]
        if data.get("timing"):
            timing = dict(data["timing"])
            timing["sizes"] = [TimedSize(**s) for s in timing["sizes"]]
            data["timing"] = Timing(**timing)
        return cls(**data)

    def public(self) -> dict[str, Any]:
        """What models and clients may see: a held-out failure is only "fails on inputs not shown", without numbers or logs."""
        data = self.to_dict()
        data["cases"] = [c for c in data["cases"] if not c["held_out"]]
        if self._fails_out_of_sight():
            data["error"] = asdict(Failure(self.verdict, "fails on inputs not shown"))
            data["logs"] = {}
            data["memory"] = None
            data["compile"] = [c | {"error": None} for c in data["compile"]]
        data["adversarial"] = [{n: v for n, v in row.items() if n != "held_out"} for row in data["adversarial"] if not row.get("held_out")]
        for compiled in data["compile"]:
            compiled["kernels"] = [k for k in compiled["kernels"] if not k.get("held_out")]
        data["logs"].pop("held_out", None)
        return data

    def _fails_out_of_sight(self) -> bool:
        """Whether what failed first is a held-out case, in the correctness or in the adversarial stage."""
        cases = any(c.held_out and not c.ok for c in self.cases) and all(c.ok for c in self.cases if not c.held_out)
        return cases or any(row.get("held_out") and not row["ok"] for row in self.adversarial)
