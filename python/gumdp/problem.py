"""Problems: a model, an objective, a discount and a horizon."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._checks import Floats, choice, count, discount_of, is_text, number, path_of
from ._native import Problem as NativeProblem
from ._objective import Objective, objective_of
from ._tables import Observations, Table
from .functions import Given
from .model import Model, PathLike, write

if TYPE_CHECKING:
    from ._reached import Whereabouts
    from .environments import Environment
    from .tabulating import Reached

__all__ = ["Problem", "tasks"]

MOST_STEPS = 1_000_000


class Problem:
    """A model, an objective, a discount γ and a horizon H.

    An episode visits (s_t, a_t) for t = 0 … H − 1. Its occupancy is d = (1−γ)/(1−γ^H) Σ γ^t 1(s_t, a_t), and its cost f(d).

    Parameters
    ----------
    model : Model
    objective : Objective or function
        A function f(d) -> float stands for ``Function(f)``.
    discount : float
        γ in (0, 1].
    horizon : int, optional
        H in [1, 1000000].
    accuracy : float, optional
        Instead of the horizon: the smallest H whose optimal policies are this close to optimal for the infinite one.

    Examples
    --------
    >>> import numpy as np, gumdp
    >>> model = gumdp.Model([np.eye(2), np.eye(2)[::-1]])
    >>> problem = gumdp.Problem(model, gumdp.Entropy(), discount=0.9, horizon=10)
    >>> problem
    Problem(Model(2 states, 2 actions, 4 transitions), Entropy(), discount=0.9, horizon=10)
    >>> gumdp.Problem(model, gumdp.Linear([0, 1]), discount=0.9, accuracy=0.01).horizon
    64
    """

    __slots__ = ("_is_paid_later", "_native", "model", "objective")

    _native: NativeProblem
    # Whether the cost of a step is that of the state it leads to: the last step of an episode only pays.
    _is_paid_later: bool
    model: Model
    objective: Objective

    def __init__(
        self,
        model: Model,
        objective: Objective | Callable[[Floats], float],
        *,
        discount: float,
        horizon: int | None = None,
        accuracy: float | None = None,
    ) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"model is {model!r}; it must be a gumdp.Model")
        wanted = objective_of(objective)
        if wanted is None:
            raise TypeError(
                f"objective is {objective!r}; it must be a gumdp objective such as Linear or Entropy, or a function"
            )
        gamma = discount_of(discount)
        built = wanted.build(model)
        if horizon is not None and accuracy is None:
            steps = count("horizon", horizon, 1, MOST_STEPS)
        elif accuracy is not None and horizon is None:
            steps = _native.Problem.horizon_for(built, gamma, number("accuracy", accuracy))
        else:
            raise ValueError("give either horizon or accuracy")
        self._native = _native.Problem(model._native, built, gamma, steps)
        self.model, self.objective, self._is_paid_later = model, wanted, False

    @classmethod
    def _of(cls, native: NativeProblem, table: Table | None = None, is_paid_later: bool = False) -> Problem:
        problem = cls.__new__(cls)
        problem._native = native
        problem.model = Model._of(native, table)
        problem.objective = Given(native)
        problem._is_paid_later = is_paid_later
        return problem

    def __reduce__(self) -> Any:
        source = self._native.source()
        if source is None:
            return _again, (self.model, self.objective, self.discount, self.horizon, self._is_paid_later)
        return _read_again, (*source, self.model._observations, self._is_paid_later)

    @classmethod
    def from_file(cls, path: PathLike, *, allow_files: bool = False) -> Problem:
        """The problem in a file of any format that the command line reads.

        It reads files outside of its own folder only if ``allow_files`` is true.
        """
        return cls._of(_native.Problem.load(path_of(path), bool(allow_files)))

    @classmethod
    def from_gymnasium(
        cls, env: Any, *, discount: float, horizon: int, rewards: str = "split", initial: Any = None
    ) -> Problem:
        """The problem to earn the rewards of an environment with a table ``P``; a cost is minus a reward.

        Parameters
        ----------
        env : gymnasium.Env
            As for :meth:`Model.from_gymnasium`.
        discount : float
        horizon : int
        rewards : {"split", "expected"}
            With "split", a state that can be reached with different rewards is several states, such as ``"s36[-100]"``, and
            rewards are paid one step later: the problem has `horizon` + 1 steps, of which the last only pays, and the distribution of
            the cost, the discounted average, is exact. Agents take `horizon` decisions, are then at time `horizon` + 1, and
            count a reward in their cost as soon as it is earned. With "expected", chance in a reward itself is averaged away,
            and no risk measure sees it.
        initial : array_like, optional
            As for :meth:`Model.from_gymnasium`.

        See :meth:`Model.state_of` for a loop with the environment itself.
        """
        table = Table(env, initial)
        settings = {
            "kind": "import",
            "format": "gymnasium",
            "discount": discount_of(discount),
            "horizon": count("horizon", horizon, 1, MOST_STEPS - 1),
            "rewards": choice("rewards", rewards, ("split", "expected")),
            "text": table.text,
        }
        # TOML writes numbers as Python does and strings as JSON does.
        texts = {name: json.dumps(value) if isinstance(value, str) else repr(value) for name, value in settings.items()}
        lines = [f"{name} = {text}" for name, text in texts.items()]
        return cls._of(table.read("gymnasium.toml", "\n".join(lines)), table, rewards == "split")

    @classmethod
    def from_simulator(
        cls,
        simulator: Any,
        objective: Any,
        *,
        discount: float,
        horizon: int,
        rewards: str = "split",
        max_states: int = 100_000,
        samples: int | None = None,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> Problem:
        """A simulator as a table, which can be solved and planned in as all others: what :class:`SimulatedProblem` is without one.

        Parameters
        ----------
        simulator : Simulator
            As for :meth:`Model.from_simulator`; only states within the horizon are looked for.
        objective : str, mapping, callable or Objective
            A formula in the names of features, weights of them by name, a function of the array of their sums as that of
            :class:`SimulatedProblem`, which is slower by far, or an objective of the model.
        discount : float
        horizon : int
        rewards : {"split", "expected"}
            As for :meth:`from_gymnasium`. Nothing is split, and nothing paid later, where features do not depend on chance.
        max_states, samples, confidence, seed
            As for :meth:`Model.from_simulator`.

        >>> class Gamble:
        ...     names = ["lost"]
        ...     def initial(self, rng):
        ...         return "start"
        ...     def actions(self, state):
        ...         return ["stop", "go"]
        ...     def step(self, state, action, rng):
        ...         return state, [1.0 if action == "stop" else 3.0 * (rng.random() < 0.25)], True
        >>> import gumdp
        >>> problem = gumdp.Problem.from_simulator(Gamble(), "lost^2", discount=1.0, horizon=1)
        >>> gumdp.solve(problem).value, gumdp.solve(problem, "worst").value
        (1.0, 1.0)
        """
        from ._reached import reach_simulator

        steps = count("horizon", horizon, 1, MOST_STEPS - 1)
        limits = {"max_states": max_states, "samples": samples, "confidence": confidence, "seed": seed}
        return cls._of_reached(reach_simulator(simulator, steps, limits), None, objective, discount, steps, rewards)

    @classmethod
    def from_env(
        cls,
        env: Any,
        objective: Any = None,
        *,
        discount: float,
        horizon: int | None = None,
        rewards: str = "split",
        max_states: int = 100_000,
        samples: int | None = None,
        confidence: float = 0.95,
        seed: int = 0,
        **settings: Any,
    ) -> Problem:
        """An environment without a table as a table; see :meth:`Model.from_env` and :meth:`from_simulator`.

        Parameters
        ----------
        env : gymnasium.Env
        objective : str, mapping, callable or Objective, optional
            Such as ``"exp(-reward0) - reward1"``. By default the reward is to be large.
        discount : float
        horizon : int, optional
            By default the environment's time limit, which it must not exceed.
        rewards, max_states, samples, confidence, seed
            As for :meth:`from_simulator`.
        **settings
            As for :class:`Environment`.
        """
        from ._reached import reach_env
        from .environments import Environment

        environment = Environment(env, **settings)
        steps = environment.horizon(horizon, MOST_STEPS - 1)
        limits = {"max_states": max_states, "samples": samples, "confidence": confidence, "seed": seed}
        return cls._of_reached(reach_env(environment, steps, limits), environment, objective, discount, steps, rewards)

    @classmethod
    def _of_reached(
        cls, reached: Reached, environment: Environment | None, objective: Any, discount: float, horizon: int, rewards: str
    ) -> Problem:
        from ._reached import lay_out, of_features

        gamma = discount_of(discount)
        is_split = choice("rewards", rewards, ("split", "expected")) == "split"
        laid = lay_out(reached, scale_of(gamma, horizon) if is_split else None, environment)
        model = Model._of_laid(laid)
        wanted = of_features(objective, model, reached.names)
        problem = cls(model, wanted, discount=gamma, horizon=horizon + laid.is_paid_later)
        problem._is_paid_later = laid.is_paid_later
        return problem

    def to_file(self, path: PathLike) -> list[str]:
        """Writes the problem as .csv, .drn or .toml; returns what the format cannot hold, such as an objective."""
        return write(self._native, path)

    @property
    def discount(self) -> float:
        """γ."""
        return self._native.timing()[0]

    @property
    def horizon(self) -> int:
        """H."""
        return self._native.timing()[1]

    @property
    def name(self) -> str:
        """The name of the task; "problem" if it has none."""
        return self._native.texts()[0]

    @property
    def description(self) -> str:
        """A few sentences for people; may be empty."""
        return self._native.texts()[2]

    @property
    def risks(self) -> list[str]:
        """Risk measures the task is usually played with.

        >>> tasks["rooms"].risks[-1]
        'erm:50'
        """
        return self._native.defaults()[0]

    @property
    def runs(self) -> int:
        """Number of episodes the task is usually played for."""
        return self._native.defaults()[1]

    @property
    def simulations(self) -> int:
        """Simulations for each decision that planners do unless told otherwise."""
        return self._native.defaults()[2]

    @property
    def scripts(self) -> dict[str, list[int]]:
        """Sequences of actions that the task's file has for comparison.

        >>> list(tasks["rooms"].scripts)
        ['pi1', 'pi2']
        """
        return dict(self._native.scripts())

    def value(self, occupancy: Any) -> float:
        """f at an occupancy over pairs, or over states and actions."""
        return self.objective.value(self.model, occupancy)

    def __repr__(self) -> str:
        return f"Problem({self.model!r}, {self.objective!r}, discount={self.discount:g}, horizon={self.horizon})"


def _again(model: Model, objective: Objective, discount: float, horizon: int, is_paid_later: bool = False) -> Problem:
    """The problem that was pickled."""
    problem = Problem(model, objective, discount=discount, horizon=horizon)
    problem._is_paid_later = is_paid_later
    return problem


def _read_again(file: str, text: str, observations: Observations | Whereabouts | None, is_paid_later: bool) -> Problem:
    """The problem that was pickled, of a task or a file."""
    problem = Problem._of(_native.Problem.parse(file, text), None, is_paid_later)
    problem.model._observations = observations
    return problem


def scale_of(discount: float, horizon: int) -> float:
    """How much more a reward counts that is paid one step later, as a share of one step more."""
    longer = discount ** np.arange(horizon + 1)
    return float(longer.sum() / longer[:-1].sum()) / discount


def native_of(problem: Any) -> NativeProblem:
    """The native half of what must be a problem."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem is {problem!r}; it must be a gumdp.Problem")
    return problem._native


class _Tasks(Mapping[str, Problem]):
    """The built-in tasks by name.

    >>> import gumdp
    >>> gumdp.tasks["grid-mo"].horizon
    40
    """

    def __getitem__(self, name: str) -> Problem:
        found = _native.Problem.built_in(name) if isinstance(name, str) and is_text(name) else None
        if found is None:
            raise KeyError(f"there is no task {name!r}; there are {', '.join(_native.TASKS)}")
        return Problem._of(found)

    def __iter__(self) -> Iterator[str]:
        return iter(_native.TASKS)

    def __len__(self) -> int:
        return len(_native.TASKS)

    def __repr__(self) -> str:
        return f"tasks({', '.join(_native.TASKS)})"


tasks = _Tasks()
