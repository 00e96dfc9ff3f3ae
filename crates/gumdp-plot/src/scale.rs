//! Axis ranges, "nice" ticks and number labels.

/// Values beyond this are left out of ranges, so that differences and padding stay finite.
const LARGEST: f64 = 1e150;

/// Whether a value can be drawn at all.
pub(super) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() < LARGEST
}

/// The smallest interval over the drawable values seen so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent(pub Option<(f64, f64)>);

impl Extent {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let drawn = values.into_iter().filter(|value| drawable(*value)).map(|value| (value, value));
        Self(drawn.reduce(|(lo, hi), (value, _)| (lo.min(value), hi.max(value))))
    }

    /// The interval, 0 to 1 if nothing was seen, widened if all values are (nearly) equal.
    pub fn range(self) -> (f64, f64) {
        let (lo, hi) = self.0.unwrap_or((0.0, 1.0));
        let scale = lo.abs().max(hi.abs());
        if hi - lo > scale * 1e-9 {
            (lo, hi)
        } else {
            let room = if scale > 0.0 { scale * 0.1 } else { 0.5 };
            (lo - room, hi + room)
        }
    }

    /// The interval with a share of its length added at both ends.
    pub fn padded(self, share: f64) -> (f64, f64) {
        let (lo, hi) = self.range();
        (lo - share * (hi - lo), hi + share * (hi - lo))
    }
}

/// One mark on an axis; minor marks have no label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

/// A linear or logarithmic axis, or one of roots, with its ticks.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    lo: f64,
    hi: f64,
    log: bool,
    /// Fractions are raised to this: 1/2 gives a square-root scale.
    power: f64,
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// A linear axis over exactly `lo..=hi` with about `count` ticks.
    pub fn linear((lo, hi): (f64, f64), count: usize) -> Self {
        Self { lo, hi, log: false, power: 1.0, ticks: linear_ticks(lo, hi, count) }
    }

    /// An axis over values, with a share of its length added at both ends of a linear one.
    pub fn over(values: impl Iterator<Item = f64>, log: bool, room: f64, count: usize) -> Self {
        if log { Self::log10(values) } else { Self::linear(Extent::of(values).padded(room), count) }
    }

    /// A base-ten logarithmic axis over the positive ones of `values`, with a little room at both ends.
    pub fn log10(values: impl IntoIterator<Item = f64>) -> Self {
        let logs = Extent::of(values.into_iter().filter(|v| drawable(*v) && *v > 0.0).map(f64::log10));
        let (lo, hi) = match logs.0 {
            Some((lo, hi)) if hi - lo > 1e-9 => (lo - 0.03 * (hi - lo), hi + 0.03 * (hi - lo)),
            Some((lo, hi)) => (lo - 0.5, hi + 0.5),
            None => (0.0, 1.0),
        };
        Self { lo, hi, log: true, power: 1.0, ticks: log_ticks(lo, hi) }
    }

    /// A logarithmic axis over the positive ones of `values`, with a tick at each of these places.
    pub fn log10_at(values: impl IntoIterator<Item = f64>, places: &[f64]) -> Self {
        let ticks = places.iter().map(|&value| Tick { value, label: shortest(value) }).collect();
        Self { ticks, ..Self::log10(values) }
    }

    /// Where a value lies, 0 at the low and 1 at the high end; `None` if it cannot be drawn on this axis.
    pub fn fraction(&self, value: f64) -> Option<f64> {
        if !drawable(value) || (self.log && value <= 0.0) {
            return None;
        }
        let value = if self.log { value.log10() } else { value };
        // Far outside points are pulled in so that coordinates stay printable; the frame clips them anyway.
        let fraction = ((value - self.lo) / (self.hi - self.lo)).clamp(-50.0, 50.0);
        Some(if self.power == 1.0 { fraction } else { fraction.max(0.0).powf(self.power) })
    }

    /// A scale for colours over values, the straightest of linear, square root and cube root on which half of the values other than the
    /// lowest lie above a quarter of the scale.
    pub fn of_colours(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.filter(|value| drawable(*value)).collect();
        values.sort_by(f64::total_cmp);
        let (lo, hi) = Extent::of(values.iter().copied()).range();
        let above: Vec<f64> = values.into_iter().filter(|value| *value > lo).collect();
        let middle = above.get(above.len() / 2).map_or(1.0, |value| (value - lo) / (hi - lo));
        let power = [1.0, 0.5].into_iter().find(|power| middle.powf(*power) >= 0.25).unwrap_or(1.0 / 3.0);
        let mut axis = Self { power, ..Self::linear((lo, hi), 5) };
        if power < 1.0 {
            let at = |part: f64| lo + (hi - lo) * (part / 4.0).powf(1.0 / power);
            let mut places: Vec<f64> = [1.0, 2.0, 3.0].map(|part| nice_step(at(part))).to_vec();
            places.retain(|place| *place > lo && *place < hi);
            places.dedup();
            places.push(hi);
            if lo == 0.0 {
                places.insert(0, 0.0);
            }
            axis.ticks = places.into_iter().map(|value| Tick { value, label: shortest(value) }).collect();
        }
        axis
    }

    /// What its scale is called; nothing if it is linear.
    pub fn scale(&self) -> &'static str {
        if self.power == 1.0 {
            ""
        } else if self.power == 0.5 {
            "square-root scale"
        } else {
            "cube-root scale"
        }
    }
}

/// 1, 2 or 5 times a power of ten, whichever is nearest to `rough`.
pub(super) fn nice_step(rough: f64) -> f64 {
    if !(drawable(rough) && rough > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(rough.log10().floor());
    let mantissa = rough / power;
    let steps = [(1.5, 1.0), (3.5, 2.0), (7.5, 5.0)];
    steps.into_iter().find(|(below, _)| mantissa < *below).map_or(10.0, |(_, nice)| nice) * power
}

fn linear_ticks(lo: f64, hi: f64, count: usize) -> Vec<Tick> {
    let step = nice_step((hi - lo) / count.max(1) as f64);
    let (first, last) = ((lo / step - 1e-9).ceil(), (hi / step + 1e-9).floor());
    let steps = if last >= first { (last - first).min(50.0) as usize } else { return Vec::new() };
    let values = (0..=steps).map(|i| (first + i as f64) * step);
    let largest = lo.abs().max(hi.abs());
    let label = |value: f64| {
        if value == 0.0 {
            "0".to_owned()
        } else if !(1e-4..1e6).contains(&largest) {
            scientific(value, step)
        } else {
            fixed(value, (-step.log10().floor()).clamp(0.0, 10.0) as usize)
        }
    };
    values.map(|value| Tick { value, label: label(value) }).collect()
}

fn log_ticks(lo: f64, hi: f64) -> Vec<Tick> {
    let (first, last) = (lo.floor() as i32, hi.ceil() as i32);
    let decades = hi - lo;
    let every = ((decades / 8.0).ceil() as i32).max(1);
    // One notation for all decades: plain numbers if they are short, else powers.
    let plain = lo > -3.1 && hi < 4.1;
    let mut ticks = Vec::new();
    for power in first..=last {
        for mantissa in 1..10 {
            let place = f64::from(power) + f64::from(mantissa).log10();
            if place < lo - 1e-9 || place > hi + 1e-9 {
                continue;
            }
            let whole = mantissa == 1 && power.rem_euclid(every) == 0;
            let labelled = if decades < 1.6 { matches!(mantissa, 1 | 2 | 5) } else { whole };
            let label = if labelled { log_label(mantissa, power, plain) } else { String::new() };
            // Minor ticks only where they are few.
            if labelled || decades <= 5.0 {
                ticks.push(Tick { value: f64::from(mantissa) * 10f64.powi(power), label });
            }
        }
    }
    if ticks.iter().filter(|tick| !tick.label.is_empty()).count() < 2 {
        // Less than a decade without round numbers: label it like a linear axis.
        ticks = linear_ticks(10f64.powf(lo), 10f64.powf(hi), 4);
    }
    ticks
}

fn log_label(mantissa: i32, power: i32, plain: bool) -> String {
    if plain || (0..=1).contains(&power) {
        fixed(f64::from(mantissa) * 10f64.powi(power), (-power).max(0) as usize)
    } else if mantissa == 1 {
        format!("10{}", superscript(power))
    } else {
        format!("{mantissa}·10{}", superscript(power))
    }
}

fn scientific(value: f64, step: f64) -> String {
    let power = value.abs().log10().floor();
    let decimals = (power - step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{}·10{}", fixed(value / 10f64.powf(power), decimals), superscript(power as i32))
}

fn superscript(power: i32) -> String {
    let raised = |c: char| "-⁻0⁰1¹2²3³4⁴5⁵6⁶7⁷8⁸9⁹".chars().skip_while(move |known| *known != c).nth(1).unwrap_or(c);
    power.to_string().chars().map(raised).collect()
}

/// A number with fixed decimals and a true minus sign; never "−0".
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

/// A number with about three significant digits, for tool tips and cell labels.
pub(super) fn brief(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-4..1e6).contains(&size) {
        scientific(value, 10f64.powf(size.log10().floor() - 2.0))
    } else {
        fixed(value, (2.0 - size.log10().floor()).clamp(0.0, 6.0) as usize)
    }
}

/// Like [`brief`], without trailing zeros.
pub(super) fn shortest(value: f64) -> String {
    let text = brief(value);
    if text.contains('.') && !text.contains('·') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn ticks_are_one_two_five() {
        assert_eq!(labels(&Axis::linear((0.0, 1.0), 5)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::linear((-3.0, 12.0), 4)), ["0", "5", "10"]);
        assert_eq!(nice_step(0.3), 0.2);
        assert_eq!(nice_step(f64::NAN), 1.0);
    }

    #[test]
    fn log_axes_label_decades() {
        assert_eq!(labels(&Axis::log10([0.1, 1000.0])), ["0.1", "1", "10", "100", "1000"]);
        assert_eq!(labels(&Axis::log10([1e-6, 1e-2])), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²"]);
        assert!(labels(&Axis::log10([3.0, 4.0])).len() >= 2);
        assert!(labels(&Axis::log10([-1.0, f64::NAN])).len() >= 2);
        assert_eq!(Axis::log10([1.0, 10.0]).fraction(-1.0), None);
    }

    #[test]
    fn colours_show_what_is_rare() {
        let even = Axis::of_colours([0.0, 1.0, 2.0, 3.0].into_iter());
        assert_eq!((even.scale(), even.fraction(1.5)), ("", Some(0.5)));
        let uneven = Axis::of_colours([0.0, 1.0, 1.0, 1.0, 9.0].into_iter());
        assert_eq!((uneven.scale(), uneven.fraction(2.25)), ("square-root scale", Some(0.5)));
        assert_eq!(labels(&uneven), ["0", "0.5", "2", "5", "9"]);
        let rare = Axis::of_colours([0.0, 0.01, 0.01, 0.01, 9.0].into_iter());
        assert_eq!(rare.scale(), "cube-root scale");
        assert!(rare.fraction(0.01).unwrap() > 0.1 && rare.fraction(9.0) == Some(1.0));
        assert_eq!(Axis::of_colours(std::iter::empty()).scale(), "");
    }

    #[test]
    fn ranges_are_never_empty() {
        for values in
            [vec![], vec![0.0], vec![5.0, 5.0], vec![f64::NAN, f64::INFINITY], vec![1e-300], vec![-1e149, 1e149]]
        {
            let (lo, hi) = Extent::of(values.iter().copied()).padded(0.05);
            assert!(hi > lo && (hi - lo).is_finite(), "{values:?} gave {lo} to {hi}");
            assert!(Axis::linear((lo, hi), 5).ticks.len() < 60);
        }
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(fixed(-2.5, 1), "−2.5");
        assert_eq!(brief(0.123_456), "0.123");
        assert_eq!(brief(12_345.6), "12346");
        assert_eq!(brief(1.5e9), "1.50·10⁹");
        assert_eq!(brief(f64::NAN), "–");
        assert_eq!(shortest(0.05), "0.05");
        assert_eq!(shortest(200.0), "200");
    }
}
