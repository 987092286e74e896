//! The wave gate: runs the Gates on the integration branch and finds the merge that broke it.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::context::EffectContext,
        repository::tip,
        running::Worker,
    },
    gates,
    gates::{WaveSubject, WholeFeature},
};
use domain::{
    evidence::{Evidence, Gate, GateReport, Profile, profile},
    feature::{
        event::Event,
        flow::{held_checks, strictest, whole},
    },
    ids::{Emission, Sha},
};
use git::Mirror;

pub(super) async fn wave_gate(context: &EffectContext<'_>, emission: Emission) -> Result<Done, EffectError> {
    let _shown = context.on_board(Worker::WaveGate, None);
    let feature = &context.feature;
    let mirror = context.fetch_own().await?;
    let head = tip(&mirror, &feature.integration_branch()).await?;
    let settings = context.settings();
    let baseline = context.baseline(&mirror).await?;
    let kind = strictest(feature);
    let smoke = feature.plan.as_ref().and_then(|version| version.plan.smoke.as_deref());
    let task = whole(feature);
    let checks = held_checks(feature);
    let is_one_task = feature.tasks.iter().filter(|task| task.is_completed()).count() == 1;
    let fork = mirror.merge_base(&baseline.commit, &head).await?;
    let whole = fork.as_ref().zip(task.as_ref());
    let whole = whole.map(|(fork, task)| WholeFeature { fork, task, is_one_task, checks: &checks });
    let subject = WaveSubject {
        mirror: &mirror,
        head: &head,
        smoke,
        whole: whole.as_ref(),
        baseline: &baseline,
        settings: &settings,
        waived: &context.waived(),
    };
    let report = gates::verify_wave(&context.gate_context(), &subject, &context.job.cancel).await?;
    let broke = match profile(kind, &report) {
        Profile::Failed(_) => broke(context, &subject, &report).await?,
        Profile::Passed | Profile::Absent(_) => None,
    };
    Ok(context.event(Event::WaveGated { emission, head, report: Box::new(report), broke }))
}

/// Returns the merge since the last passed gate that broke the result; `None` if it cannot be found.
async fn broke(
    context: &EffectContext<'_>,
    subject: &WaveSubject<'_>,
    report: &GateReport,
) -> Result<Option<Sha>, EffectError> {
    let feature = &context.feature;
    let Some(green) = green(context, subject.mirror).await? else {
        return Ok(None);
    };
    let (failing, tests_failed) = match &report.tests {
        Evidence::Failed(finding) => (report.blocking_failures(finding), true),
        Evidence::Passed(_) | Evidence::Absent(_) => (Vec::new(), false),
    };
    let smoke_failed = report.result(Gate::Smoke).is_some_and(|result| matches!(result.evidence, Evidence::Failed(_)));
    // The search runs only tests and the smoke command. Other Gates judge the tasks together, so no single merge is the
    // cause.
    if !tests_failed && !smoke_failed {
        return Ok(None);
    }
    let subject = WaveSubject { smoke: subject.smoke.filter(|_| smoke_failed && !tests_failed), ..*subject };
    let found = gates::blame(&context.gate_context(), &subject, &green, &failing, &context.job.cancel).await?;
    tracing::debug!(feature = %feature.key, found = ?found, "looked for the merge that broke {}", feature.key);
    Ok(found)
}

/// Returns the last commit of the integration branch on which a gate passed, else the one that the branch began with.
async fn green(context: &EffectContext<'_>, mirror: &Mirror) -> Result<Option<Sha>, EffectError> {
    let feature = &context.feature;
    let kind = strictest(feature);
    let mut held = feature.gates.iter().rev();
    let held = held.find(|gate| profile(kind, &gate.report) == Profile::Passed);
    let base = feature.integration.as_ref().map(|integration| integration.base.clone());
    let Some(green) = held.map(|gate| gate.head.clone()).or(base) else {
        return Ok(None);
    };
    Ok(mirror.has_commit(&green).await?.then_some(green))
}
