//! `gumdp study`: what the default planner earns, as tables and pictures from rows that are measured once.

use std::io::{self, Write};

use anyhow::Result;
use clap::ValueEnum;

use super::{output_folder, with_threads};
use crate::args::{StudyArgs, StudyName};
use crate::failure::BadInput;
use crate::results::distinct;
use crate::store::write_atomically;
use crate::study::{Book, Job, ablation, convergence, worlds};

/// Measures what is missing, prints a table for each study and draws it.
pub fn study(args: &StudyArgs, quiet: bool) -> Result<()> {
    let studies = chosen(args)?;
    output_folder(&args.out)?;
    let mut book = Book::open(&args.out, args.luck.seed)?;
    let mut out = io::stdout().lock();
    for (number, (study, jobs)) in studies.into_iter().enumerate() {
        let name = study.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let rows = with_threads(args.luck.threads, || book.measure(&name, &jobs, quiet))?;
        let findings = match study {
            StudyName::Ablation => ablation::findings(&rows),
            StudyName::Worlds => worlds::findings(&rows),
            StudyName::Convergence => convergence::findings(&rows),
        };
        write_atomically(&args.out.join(format!("{name}.svg")), findings.picture.as_bytes())?;
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}\n", findings.introduction)?;
        findings.table.print_markdown(&mut out)?;
    }
    if !quiet {
        crate::talk::say!("rows and pictures are in {}", args.out.display());
    }
    Ok(())
}

/// The studies that are asked for with their rows; those without any are left out.
fn chosen(args: &StudyArgs) -> Result<Vec<(StudyName, Vec<Job>)>> {
    let names = if args.studies.is_empty() { StudyName::value_variants() } else { &args.studies };
    let mut studies = Vec::new();
    for study in distinct(names.iter().copied()) {
        let jobs = match study {
            StudyName::Ablation => ablation::jobs()?,
            StudyName::Worlds => worlds::jobs()?,
            StudyName::Convergence => convergence::jobs(),
        };
        studies.push((study, jobs));
    }
    let known = distinct(studies.iter().flat_map(|(_, jobs)| jobs).map(Job::task));
    if let Some(unknown) = args.task.iter().find(|task| !known.contains(&task.as_str())) {
        let hint = format!("there are {}", known.join(", "));
        return Err(BadInput::new(format!("no study has a task \"{unknown}\"")).hint(hint).into());
    }
    let is_wanted = |job: &Job| args.task.is_empty() || args.task.iter().any(|task| task == job.task());
    let wanted = |(study, jobs): (StudyName, Vec<Job>)| {
        let jobs: Vec<Job> = jobs.into_iter().filter(is_wanted).map(|job| job.with(args.runs)).collect();
        (study, jobs)
    };
    Ok(studies.into_iter().map(wanted).filter(|(_, jobs)| !jobs.is_empty()).collect())
}
