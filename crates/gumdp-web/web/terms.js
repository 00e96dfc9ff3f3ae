// @ts-check
/** One line on each quantity, for those who ask. */
export const TERMS = /** @type {Record<string, string>} */ ({
  measure: "A measure of risk turns all costs that may happen into one number. β = 0 is the mean; larger β count bad days more, up to the worst case; negative β hope for good ones. CVaR at level 0.95 is the mean of the worst 5 %; EVaR is a smooth upper bound of CVaR.",
  distribution: "How likely each cost of one episode is if you behave as well as possible for this attitude. Costs are to be low.",
  occupancy: "How much of an episode is spent in each place, early steps counting more if the discount is below 1. Darker is more. Arrows are the actions taken there.",
  frontier: "Each dot is a behaviour that is best for some attitude: its mean cost and the mean of its worst 5 %. Down is safer, left is cheaper.",
  risk: "The measure of risk that the attitude minimises. Where it is solved, no behaviour has a lower one; where episodes were played, it is that of these episodes.",
  mean: "The average cost over very many episodes.",
  tail: "The mean of the worst 5 % of the episodes: how bad a bad day is (CVaR at level 0.95).",
  median: "Half of the episodes cost at most this.",
  quantile95: "19 of 20 episodes cost at most this.",
  range: "The lowest and the highest cost that can happen.",
  actionRisk: "The risk of the whole episode if this action is taken now and everything after it is done as well as possible.",
  actionMean: "The average cost of the whole episode if this action is taken now and everything after it is done as well as possible.",
  bound: "Proven: no behaviour whatsoever has a lower risk than this. The truth lies between the bound and what was played.",
  honesty: "Where the problem can be solved, every number is exact and that of the command line to 1e-9; browsers may round exponentials otherwise in the last bits. Otherwise a planner plays episodes: numbers have 95 % intervals, and a proven bound says how low the risk can be at all.",
  feature: "The expected total of this quantity of the problem.",
});

/** Shows explanations beside what asks for them. */
export function explainOnDemand() {
  const bubble = /** @type {HTMLElement} */ (document.getElementById("explain"));
  /** @type {HTMLElement | null} */
  let owner = null;
  const hide = () => {
    bubble.hidden = true;
    owner?.removeAttribute("aria-describedby");
    owner = null;
  };
  document.addEventListener("click", (event) => {
    const asked = /** @type {HTMLElement} */ (event.target).closest?.("[data-term]");
    if (!(asked instanceof HTMLElement) || asked === owner) return hide();
    hide();
    owner = asked;
    bubble.textContent = TERMS[asked.dataset.term ?? ""] ?? "";
    bubble.hidden = false;
    asked.setAttribute("aria-describedby", "explain");
    const box = asked.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - bubble.offsetWidth - 8));
    bubble.style.left = `${left + window.scrollX}px`;
    bubble.style.top = `${box.bottom + window.scrollY + 6}px`;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}

/** A button that explains a quantity. @param {string} term @param {string} [name] */
export function term(term, name = term) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "term";
  button.dataset.term = term;
  button.textContent = name;
  return button;
}
