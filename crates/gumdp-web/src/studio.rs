//! Questions and answers.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::figure::{self, Figure, Format};
use crate::{gallery, play, shown};
use gumdp::bound::relaxed_bound;
use gumdp::frontier::{self, Explorer, Frontier};
use gumdp::measures::Form;
use gumdp::oracle::{Limits, OracleError, Solution, solve};
use gumdp::{Agent, Budget, Risk, Spec, Who};
use gumdp_files::{Severity, Task, check_text};

/// What a page may take: as long as the command line takes to find out whether a problem can be solved, and less memory.
#[must_use]
pub fn limits() -> Limits {
    Limits { max_bytes: 512 << 20, policy_bytes: 128 << 20, ..Limits::QUICK }
}

/// Episodes at each level, and simulations for each decision, where a problem is planned.
const PLANNED: Effort = Effort { runs: 24, simulations: 100 };
/// The same for a first answer, which should come soon.
const ROUGH: Effort = Effort { runs: 12, simulations: 5 };

#[derive(Clone, Copy)]
struct Effort {
    runs: u64,
    simulations: u64,
}

/// Levels that are solved together.
const AHEAD: usize = 16;

/// A question.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Question {
    Gallery,
    Open {
        file: String,
        text: String,
    },
    Levels {
        measure: String,
        count: usize,
        #[serde(default)]
        plan: bool,
    },
    Look {
        risk: String,
        #[serde(default)]
        rough: bool,
    },
    Bound {
        risk: String,
    },
    Changes {
        #[serde(default)]
        quick: bool,
    },
    Episode {
        risk: String,
        number: u64,
    },
    Situation {
        risk: String,
        number: u64,
        actions: Vec<u32>,
    },
    WhatIf {
        risk: String,
        number: u64,
        actions: Vec<u32>,
        action: u32,
    },
    Figure {
        figure: Figure,
        format: Format,
    },
}

/// Answers questions about the problem that was opened last.
#[derive(Default)]
pub struct Studio {
    open: Option<Open>,
}

/// A problem and what is known of it.
pub(crate) struct Open {
    pub(crate) task: Task,
    /// Why it is planned and not solved.
    pub(crate) planned: Option<OracleError>,
    explorer: Option<Explorer>,
    /// The measure whose levels were asked for.
    measure: Option<String>,
    /// Those that will be looked at, in order.
    levels: Vec<Risk>,
    solved: Option<(Risk, Solution)>,
    planner: Option<(Risk, Agent)>,
}

/// Why there is no answer.
type Answer = Result<Value, String>;

impl Studio {
    /// The answer to a question, both in JSON.
    ///
    /// ```
    /// let mut studio = gumdp_web::Studio::default();
    /// let answer = studio.ask(r#"{ "op": "open", "file": "mine.toml", "text": "kind = 1" }"#);
    /// assert!(answer.contains("\"line\":1"));
    /// assert!(studio.ask("?").starts_with("{\"error\":"));
    /// ```
    pub fn ask(&mut self, question: &str) -> String {
        let question = serde_json::from_str(question).map_err(|error| format!("this is no question: {error}"));
        let answer = question.and_then(|question| self.answer(question));
        answer.unwrap_or_else(|error| json!({ "error": error })).to_string()
    }

    fn answer(&mut self, question: Question) -> Answer {
        match question {
            Question::Gallery => Ok(gallery::all()),
            Question::Open { file, text } => Ok(self.read(&file, &text)),
            Question::Levels { measure, count, plan } => self.problem()?.levels(&measure, count, plan),
            Question::Look { risk, rough } => self.problem()?.look(parsed(&risk)?, if rough { ROUGH } else { PLANNED }),
            Question::Bound { risk } => self.problem()?.bound(parsed(&risk)?),
            Question::Changes { quick } => self.problem()?.changes(quick),
            Question::Episode { risk, number } => play::episode(self.problem()?, parsed(&risk)?, number),
            Question::Situation { risk, number, actions } => {
                play::situation(self.problem()?, parsed(&risk)?, number, &actions)
            }
            Question::WhatIf { risk, number, actions, action } => {
                play::what_if(self.problem()?, parsed(&risk)?, number, &actions, action)
            }
            Question::Figure { figure, format } => figure::drawn(figure, format),
        }
    }

    fn problem(&mut self) -> Result<&mut Open, String> {
        self.open.as_mut().ok_or_else(|| "no problem is open".to_owned())
    }

    fn read(&mut self, file: &str, text: &str) -> Value {
        let findings = check_text(file, text);
        let usable = findings.iter().all(|finding| finding.severity != Severity::Error);
        let task = Task::parse(file, text).ok().filter(|_| usable);
        let problem = task.as_ref().map(shown::problem);
        self.open = task.map(|task| Open {
            task,
            planned: None,
            explorer: None,
            measure: None,
            levels: Vec::new(),
            solved: None,
            planner: None,
        });
        json!({ "findings": findings, "problem": problem })
    }
}

fn parsed(risk: &str) -> Result<Risk, String> {
    risk.parse().map_err(|error| format!("{error}"))
}

impl Open {
    /// Which attitudes to look at. What was looked at for another measure is forgotten. Planned anyway if that is wanted: while another
    /// one solves the problem, or because that takes too long.
    fn levels(&mut self, measure: &str, count: usize, plan: bool) -> Answer {
        let form: &Form = Risk::forms().find(|form| form.name == measure).ok_or("there is no such measure")?;
        let (problem, limits) = (&self.task.problem, limits());
        let own = self.task.defaults.own_risks();
        let levels = if plan {
            Err(OracleError::Stopped)
        } else if measure == "erm" {
            frontier::attitudes(problem, &own, count, &limits)
        } else {
            frontier::usual(problem, form, &own, None, &limits).map(|mut levels| {
                let rest = levels.split_off(1.min(levels.len()));
                [levels, frontier::far_apart_first(rest)].concat()
            })
        };
        let (levels, because) = match levels {
            Ok(levels) => (levels, None),
            Err(error) if plan || error.is_limit() => (frontier::few(problem, form, &own, None), Some(error)),
            Err(error) => return Err(error.to_string()),
        };
        if self.measure.as_deref().is_some_and(|other| other != measure) {
            self.explorer = None;
        }
        self.measure = Some(measure.to_owned());
        self.levels.clone_from(&levels);
        let planned = because.as_ref().map(OracleError::in_short);
        self.planned = because;
        let levels: Vec<Value> = levels.into_iter().map(shown::attitude).collect();
        Ok(json!({ "levels": levels, "planned": planned }))
    }

    fn look(&mut self, risk: Risk, effort: Effort) -> Answer {
        if self.planned.is_some() {
            return self.sample(risk, effort);
        }
        let explorer = match &mut self.explorer {
            Some(explorer) => explorer,
            None => {
                self.explorer.insert(Explorer::new(&self.task.problem, &limits()).map_err(|error| error.to_string())?)
            }
        };
        // The next levels are solved together, which takes less time than one by one.
        let place = self.levels.iter().position(|level| *level == risk);
        let found = match place.filter(|place| place % AHEAD == 0) {
            Some(place) => explorer.look_ahead(&self.levels[place..(place + AHEAD).min(self.levels.len())]),
            None => Ok(()),
        };
        let (point, behaviour) = match found.and_then(|()| explorer.look(risk)) {
            Ok(found) => found,
            Err(error) if error.is_limit() => {
                let because = error.in_short();
                self.planned = Some(error);
                return Ok(json!({ "too_large": because }));
            }
            Err(error) => return Err(error.to_string()),
        };
        let mut told = shown::point(&point);
        let what =
            json!({ "exact": true, "number": point.behaviour, "behaviour": shown::behaviour(&self.task, behaviour) });
        shown::join(&mut told, what);
        Ok(told)
    }

    /// What no policy can beat.
    fn bound(&self, risk: Risk) -> Answer {
        let bound = relaxed_bound(&self.task.problem, risk, &limits()).map_err(|error| error.to_string())?;
        Ok(json!({ "value": shown::number(bound.value), "method": bound.method.to_string() }))
    }

    /// Plays at one level, and proves what no policy can beat.
    fn sample(&mut self, risk: Risk, effort: Effort) -> Answer {
        let because = self.planned.clone().ok_or("the problem is solved, not planned")?;
        let (problem, spec) = (&self.task.problem, self.spec(risk, effort));
        let sampled = frontier::sampled(problem, &[risk], &[], &spec, effort.runs, &because, &(), |_| {});
        let found: Frontier = sampled.map_err(|error| error.to_string())?;
        let mut told = shown::point(&found.points[0]);
        let intervals = found.sampled.as_ref().and_then(|sampled| sampled.intervals.first()).map(shown::intervals);
        let what = json!({
            "exact": false,
            "behaviour": shown::behaviour(&self.task, &found.behaviours[0]),
            "intervals": intervals,
            "runs": effort.runs,
            "simulations": effort.simulations,
            "because": because.in_short(),
            "bound": self.bound(risk)?,
        });
        shown::join(&mut told, what);
        Ok(told)
    }

    fn spec(&self, risk: Risk, effort: Effort) -> Spec {
        let who = Who::Guided(self.task.defaults.guided.clone());
        Spec { budget: Some(Budget::simulations(effort.simulations)), limits: limits(), ..Spec::new(who, risk) }
    }

    /// Where behaviour changes; quickly, only between which levels. What is known stays known.
    fn changes(&mut self, quick: bool) -> Answer {
        let explorer = self.explorer.clone().ok_or("nothing was looked at yet")?;
        if explorer.levels() == 0 {
            return Ok(json!({ "changes": [], "complete": false, "bargain": null }));
        }
        let found =
            explorer.frontier(if quick { Duration::ZERO } else { Duration::MAX }).map_err(|error| error.to_string())?;
        let mdp = self.task.problem.mdp();
        let first =
            |number: usize| found.behaviours[number].first.iter().map(|pair| mdp.action(*pair).0).collect::<Vec<_>>();
        let change = |change: &gumdp::frontier::Change| {
            let [before, after] = [change.before, change.after].map(|number| &found.behaviours[number]);
            json!({
                "level": change.level.map(shown::number),
                "between": [change.point.checked_sub(1).map(|point| shown::number(found.points[point].level())),
                            found.points.get(change.point).map(|point| shown::number(point.level()))],
                "visits": found.visits(mdp, change),
                "first": [first(change.before), first(change.after)],
                "mean": [before.costs.mean(), after.costs.mean()],
                "tail": [before.tail(), after.tail()],
            })
        };
        let behaviour = |own: &gumdp::frontier::Behaviour| json!([own.costs.mean(), own.tail()]);
        let bargain = found.bargain().map(|bargain| {
            let own = &found.behaviours[bargain.behaviour];
            let from = found.reigns_from(bargain.behaviour).map(shown::number);
            json!({ "mean": own.costs.mean(), "tail": own.tail(), "paid": bargain.paid, "saved": bargain.saved, "from": from })
        });
        Ok(json!({
            "changes": found.changes.iter().map(change).collect::<Vec<_>>(),
            "frontier": found.behaviours.iter().map(behaviour).collect::<Vec<_>>(),
            "complete": found.complete,
            "bargain": bargain,
        }))
    }

    /// The exact solution, kept for the next question.
    pub(crate) fn solution(&mut self, risk: Risk) -> Result<&Solution, String> {
        if self.solved.as_ref().is_none_or(|(known, _)| *known != risk) {
            self.solved = None;
            let solution = solve(&self.task.problem, risk, &limits()).map_err(|error| error.to_string())?;
            self.solved = Some((risk, solution));
        }
        self.solved.as_ref().map(|(_, solution)| solution).ok_or_else(|| "not solved".to_owned())
    }

    /// The one who plays where nothing is solved, kept for the next question.
    pub(crate) fn planner(&mut self, risk: Risk) -> Result<&Agent, String> {
        if self.planner.as_ref().is_none_or(|(known, _)| *known != risk) {
            self.planner = None;
            let agent = Agent::new(&self.task.problem, &self.spec(risk, PLANNED)).map_err(|error| error.to_string())?;
            self.planner = Some((risk, agent));
        }
        self.planner.as_ref().map(|(_, agent)| agent).ok_or_else(|| "nobody plays".to_owned())
    }

    /// Whether it is planned, which is found out if nobody knows.
    pub(crate) fn is_planned(&mut self, risk: Risk) -> Result<bool, String> {
        if self.planned.is_none() && self.solved.as_ref().is_none_or(|(known, _)| *known != risk) {
            match solve(&self.task.problem, risk, &limits()) {
                Ok(solution) => self.solved = Some((risk, solution)),
                Err(error) if error.is_limit() => self.planned = Some(error),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(self.planned.is_some())
    }
}
