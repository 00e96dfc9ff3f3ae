"""PPO of stable-baselines3 trained on problems of gumdp: a column of scripts/benchmarks, and what helps it where risk matters.

Here are an adapter from `OccupancyVectorEnv` and `OccupancyEnv` to what stable-baselines3 steps, and the recipes. Everything is seeded
and torch has one thread, so the same call gives the same figures on the same machine and versions.

The last reward of an episode of cost f is −λ − (exp(β(f − λ)) − 1)/β (`OccupancyEnv(risk=Erm(β))`). `Recipe` says what can be changed, `RECIPES` is what is
compared.
"""

import sys
import time
from dataclasses import dataclass, replace

import gumdp
import gumdp.gymnasium
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

# Observations of random episodes that say how large the numbers are that a simulated state shows, and how far from usual they may be.
EPISODES_SEEN, FURTHEST = 50, 10.0
# Episodes that are played at the same time: of tables, and of simulators.
SIDE_BY_SIDE, SIMULATED = 64, 8
# Marks the random numbers of the world outside, as in `SimulatedProblem.play`.
WORLD = 1


@dataclass(frozen=True)
class Recipe:
    """What is done to the rewards, and how PPO is set."""

    fit: bool = True
    """Before each rollout λ becomes what is best for the costs of the last one (`fit`). Else it is `outer`."""
    outer: float | None = None
    """λ to begin with; by default that of random play."""
    scale: bool = True
    """Rewards are moved by λ and divided by 1/β, or by the spread of costs where that is smaller: 1 − exp(β(f − λ))."""
    clip: float | None = None
    """The lowest (scaled) reward."""
    share: float = 0.0
    """β is as large as it may be for this share of the episodes of a rollout to carry the weights exp(β f), and at most what is wanted."""
    mean_first: float = 0.0
    """The part of the training in which β is 0."""
    entropy: float = 0.0
    """PPO's bonus for the entropy of the policy."""
    rollout: int = 64
    """Episodes of a rollout."""
    batch: int = 256
    epochs: int = 10
    rate: float = 1e-3


USUAL = Recipe(mean_first=0.25)
NAIVE = Recipe(fit=False, outer=0.0, scale=False)
RECIPES = {
    "λ = 0, as it is": NAIVE,
    "λ of random play": replace(NAIVE, outer=None),
    "λ fitted": replace(NAIVE, fit=True),
    "λ fitted, scaled": Recipe(),
    "λ fitted, scaled, clipped at −10": Recipe(clip=10),
    "λ fitted, scaled, a quarter with β = 0": Recipe(mean_first=0.25),
    "λ fitted, scaled, β as carried by a tenth": Recipe(share=0.1),
}


class Episodes(VecEnv):
    """Episodes side by side, with one array of numbers as observation and rewards by the recipe."""

    render_mode = None

    def __init__(self, count, size, actions, recipe, risk):
        self.recipe, self.wanted, self.risk = recipe, risk, risk
        self.finished, self.spread, self.centre = [], 1.0, 0.0
        super().__init__(count, spaces.Box(-np.inf, np.inf, (size,), dtype=np.float32), spaces.Discrete(actions))

    def fit(self, risk):
        """Takes a measure, and λ for the episodes since the last time."""
        costs = np.array(self.finished)
        self.finished = []
        self.risk, self.spread, self.centre = risk, float(costs.std()) or 1.0, float(costs.mean())
        self._fit(costs, risk)

    def rewards_of(self, rewards):
        """Last rewards as the recipe wants them."""
        if self.recipe.scale:
            outer = self._outer()
            rewards = (rewards + (outer[0] if outer else self.centre)) * max(abs(self.risk.beta), 1.0 / self.spread)
        return rewards if self.recipe.clip is None else np.maximum(rewards, -self.recipe.clip)

    def step_async(self, actions):
        self._actions = actions

    def close(self):
        pass

    def get_attr(self, name, indices=None):
        return [getattr(self, name)] * self.num_envs

    def set_attr(self, name, value, indices=None):
        raise NotImplementedError

    def env_method(self, name, *args, indices=None, **kwargs):
        raise NotImplementedError

    def env_is_wrapped(self, kind, indices=None):
        return [False] * self.num_envs


class TableEpisodes(Episodes):
    """Episodes of a problem with a table, stepped in Rust; all have the same length."""

    def __init__(self, problem, count, recipe, risk, seed):
        self.envs = gumdp.gymnasium.OccupancyVectorEnv(problem, count, risk=risk, outer=recipe.outer)
        box = self.envs.single_observation_space["features"]
        self._low, self._width = box.low, np.maximum(box.high - box.low, 1e-12)
        self._states = np.eye(self.envs.single_observation_space["state"].n, dtype=np.float32)
        self._horizon, self.seed_used = problem.horizon, seed
        super().__init__(count, len(self._states) + box.low.size + 1, self.envs.single_action_space.n, recipe, risk)

    def _fit(self, costs, risk):
        self.envs.fit(costs, risk)

    def _outer(self):
        return self.envs.outer

    def _seen(self, observation):
        features = (observation["features"] - self._low) / self._width
        times = observation["time"][:, None] / self._horizon
        return np.concatenate([self._states[observation["state"]], features, times], axis=1, dtype=np.float32)

    def reset(self):
        self.last, _ = self.envs.reset(seed=self.seed_used)
        return self._seen(self.last)

    def step_wait(self):
        self.last, rewards, over, _, info = self.envs.step(self._actions)
        infos = [{} for _ in range(self.num_envs)]
        if over.any():
            self.finished += info["cost"].tolist()
            rewards = self.rewards_of(rewards)
            # Whatever the actions, this begins the next ones.
            self.last, *_ = self.envs.step(np.zeros(self.num_envs, dtype=np.int64))
        return self._seen(self.last), rewards.astype(np.float32), over, infos


class SimulatedEpisodes(Episodes):
    """Episodes of simulated problems, one after the other; each has its own environment."""

    def __init__(self, problems, recipe, risk, seed):
        first = gumdp.gymnasium.OccupancyEnv(problems[0], risk=risk, outer=recipe.outer)
        # Random play is looked at once.
        others = [gumdp.gymnasium.OccupancyEnv(problem, risk=risk, outer=first.outer or None) for problem in problems[1:]]
        self.envs = [first, *others]
        self._horizon = problems[0].horizon
        self._middle, self._width = 0.0, 1.0
        self._middle, self._width = self._usual(self.envs[0])
        for number, env in enumerate(self.envs):
            env.np_random = np.random.default_rng([seed, number])
        super().__init__(len(self.envs), self._middle.size, self.envs[0].action_space.n, recipe, risk)

    def _usual(self, env):
        """Mean and spread of what random episodes show."""
        rng, seen = np.random.default_rng(0), []
        for episode in range(EPISODES_SEEN):
            env.np_random = np.random.default_rng([2, episode])
            observation, over = env.reset()[0], False
            while not over:
                seen.append(self._shown(observation))
                observation, _, over, _, _ = env.step(int(rng.integers(env.action_space.n)))
        return np.mean(seen, axis=0), np.std(seen, axis=0) + 1e-2

    def _shown(self, observation):
        """The features are few steps' worth of sums: in units of what one step may add."""
        parts = np.ravel(observation["state"]), observation["features"] * self._horizon, [observation["time"] / self._horizon]
        return np.clip((np.concatenate(parts) - self._middle) / self._width, -FURTHEST, FURTHEST).astype(np.float32)

    def _fit(self, costs, risk):
        for env in self.envs:
            env.fit(costs, risk)

    def _outer(self):
        return self.envs[0].outer

    def reset(self):
        return np.array([self._shown(env.reset()[0]) for env in self.envs])

    def step_wait(self):
        seen, rewards = [], np.zeros(self.num_envs, dtype=np.float32)
        over, infos = np.zeros(self.num_envs, dtype=bool), [{} for _ in range(self.num_envs)]
        for number, (env, action) in enumerate(zip(self.envs, self._actions)):
            observation, reward, over[number], _, info = env.step(int(action))
            if over[number]:
                self.finished.append(info["cost"])
                rewards[number] = self.rewards_of(reward)
                observation, _ = env.reset()
            seen.append(self._shown(observation))
        return np.array(seen), rewards, over, infos


class Fitting(BaseCallback):
    """Before each rollout: λ for the costs of the last one, and the β that the recipe allows."""

    def __init__(self, recipe, risk, steps):
        super().__init__()
        self.recipe, self.wanted, self.steps = recipe, risk, steps

    def _on_rollout_start(self):
        episodes = self.training_env
        if self.num_timesteps == 0 and self.recipe.mean_first:
            episodes.finished = episodes.finished or [0.0]
            return episodes.fit(gumdp.Erm(0))
        if not self.recipe.fit or not episodes.finished:
            episodes.finished = []
            return None
        if self.num_timesteps < self.recipe.mean_first * self.steps:
            return episodes.fit(gumdp.Erm(0))
        return episodes.fit(gumdp.Erm(carried(episodes.finished, self.wanted.beta, self.recipe.share)))

    def _on_step(self):
        return True


def carried(costs, beta, share):
    """The largest β up to this one at which the weights exp(β f) are those of a share of the episodes: (Σ w)² ≥ share·n·Σ w²."""

    def is_carried(tried):
        weights = np.exp(tried * (costs - np.max(costs)))
        return weights.sum() ** 2 >= share * weights.size * (weights**2).sum()

    costs = np.array(costs)
    if is_carried(beta):
        return beta
    low, high = 0.0, beta
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if is_carried(middle) else (low, middle)
    return low


def trained(episodes, recipe, risk, horizon, steps, seed):
    """The policy that PPO has after so many steps."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    length = max(1, recipe.rollout // episodes.num_envs) * horizon
    model = PPO(
        "MlpPolicy",
        episodes,
        n_steps=length,
        batch_size=min(recipe.batch, length * episodes.num_envs),
        n_epochs=recipe.epochs,
        learning_rate=recipe.rate,
        gamma=1.0,
        gae_lambda=0.95,
        ent_coef=recipe.entropy,
        seed=seed,
        device="cpu",
    )
    return model.learn(steps, callback=Fitting(recipe, risk, steps))


def played(model, problem, runs, seed):
    """Costs of episodes of a problem with a table, and their states and actions, where the likeliest action is taken."""
    episodes = TableEpisodes(problem, runs, Recipe(outer=None), gumdp.Erm(0), seed)
    seen, path, over = episodes.reset(), [], np.zeros(runs, dtype=bool)
    while not over.any():
        actions, _ = model.predict(seen, deterministic=True)
        path += [episodes.last["state"], actions]
        episodes.step_async(actions)
        seen, _, over, _ = episodes.step_wait()
    return np.array(episodes.finished), np.array(path).T


def played_in_simulator(model, episodes, runs, seed):
    """Costs of episodes of a simulated problem, in the worlds of `SimulatedProblem.play`."""
    env, costs = episodes.envs[0], []
    for run in range(runs):
        env.np_random = np.random.default_rng([seed, run, WORLD])
        observation, over = env.reset()[0], False
        while not over:
            action, _ = model.predict(episodes._shown(observation), deterministic=True)
            observation, _, over, _, info = env.step(int(action))
        costs.append(info["cost"])
    return np.array(costs)


def exact(problem, costs, paths):
    """The distribution of a policy without chance, if every episode that it can have is among those played; else None.

    An episode has the product of the probabilities of its steps; if those of different episodes sum to 1 there are no others. (Where its last
    step leads does not count.)
    """
    distinct, first = np.unique(paths, axis=0, return_index=True)
    states, actions = distinct[:, ::2], distinct[:, 1::2]
    transitions = problem.model.to_numpy()
    chances = problem.model.initial[states[:, 0]]
    for now in range(states.shape[1] - 1):
        chances = chances * transitions[actions[:, now], states[:, now], states[:, now + 1]]
    if abs(chances.sum() - 1) > 1e-9:
        return None
    return costs[first], chances


def learned_costs(task, table, beta, runs, steps, seed):
    """What episodes of a task of scripts/benchmarks cost with the policy that PPO has learned, of the table where there is one."""
    risk = gumdp.Erm(beta)
    if table is not None:
        episodes = TableEpisodes(table, SIDE_BY_SIDE, USUAL, risk, seed)
        return played(trained(episodes, USUAL, risk, table.horizon, steps, seed), table, runs, seed)[0]
    episodes = SimulatedEpisodes([task.simulated() for _ in range(SIMULATED)], USUAL, risk, seed)
    model = trained(episodes, USUAL, risk, task.horizon, steps, seed)
    return played_in_simulator(model, episodes, runs, seed)


def recipes_on_rooms(steps, seed, beta=50.0, runs=10_000):
    """What helps where the aversion to risk is strong: the risk of the policies of some recipes on the task rooms."""
    problem, risk = gumdp.tasks["rooms"], gumdp.Erm(beta)
    best = gumdp.solve(problem, risk).value
    print(f"rooms, β = {beta:g}: the optimum is {best:.4f}; {steps} steps of training, seed {seed}. Risks without an interval are exact.\n")
    print("| recipe | risk | mean cost |\n|---|---|---|", flush=True)
    for title, recipe in RECIPES.items():
        begun = time.monotonic()
        model = trained(TableEpisodes(problem, SIDE_BY_SIDE, recipe, risk, seed), recipe, risk, problem.horizon, steps, seed)
        costs, paths = played(model, problem, runs, seed)
        known = exact(problem, costs, paths)
        if known is None:
            low, high = risk.interval(costs, (0, 1))
            print(f"| {title} | {risk.of(costs):.3g} [{low:.3g}, {high:.3g}] | {costs.mean():.3g} |", flush=True)
        else:
            print(f"| {title} | {risk.of(*known):.4f} | {gumdp.Erm(0).of(*known):.4f} |", flush=True)
        print(f"{title}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
