//! What the run's door saw going to its model past the program: calls of something that the program started, which it knows
//! nothing of.

use crate::agents::Printed;
use crate::agents::Record;
use crate::agents::RunError;
use crate::domain::price;
use crate::domain::usage::Tokens;
use crate::domain::usage::Usage;
use crate::sandbox::Spec;

/// The outcome of a run with what the door of `order` saw beside what the program told; `told` where it told more than
/// stands in the record.
pub(crate) fn counted(
    outcome: Result<Printed, RunError>,
    told: Option<Tokens>,
    order: &Spec,
) -> Result<Printed, RunError> {
    let passed = order.confine.door.as_ref().map(|door| door.used()).unwrap_or_default();
    match outcome {
        Ok(mut printed) => {
            add(&mut printed.record, told, &passed);
            Ok(printed)
        }
        Err(RunError::Agent { failure, mut record }) => {
            add(&mut record, told, &passed);
            Err(RunError::Agent { failure, record })
        }
        Err(RunError::Cancelled { mut record }) => {
            add(&mut record, told, &passed);
            Err(RunError::Cancelled { record })
        }
        Err(error @ RunError::Host { .. }) => Err(error),
    }
}

fn add(record: &mut Record, told: Option<Tokens>, passed: &[(String, Tokens)]) {
    let told = told.unwrap_or(record.usage.tokens);
    let mut all = Tokens::default();
    for (_, tokens) in passed {
        all += *tokens;
    }
    if all.total() <= told.total() {
        return;
    }
    let more = Tokens {
        input: all.input.saturating_sub(told.input),
        cached: all.cached.saturating_sub(told.cached),
        cache_write: all.cache_write.saturating_sub(told.cache_write),
        output: all.output.saturating_sub(told.output),
    };
    let cost = |(model, _): &(String, Tokens)| {
        let usage = Usage {
            tokens: more,
            ..Usage::default()
        };
        price::priced(usage, Some(model)).usd_micros
    };
    let dearest = passed.iter().filter_map(cost).max().unwrap_or(0);
    tracing::warn!(
        tokens = more.total(),
        "a run called its model past its program: {} tokens more than it told",
        more.total()
    );
    record.usage.tokens += more;
    if let Some(usd_micros) = &mut record.usage.usd_micros {
        *usd_micros = usd_micros.saturating_add(dearest);
        record.usage.estimated = true;
    }
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::agents::Record;
    use crate::domain::usage::Tokens;
    use crate::domain::usage::Usage;

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens {
            input,
            output,
            ..Tokens::default()
        }
    }

    fn after(told: Option<Tokens>, passed: &[(String, Tokens)]) -> Usage {
        let usage = Usage {
            tokens: tokens(1_000, 100),
            usd_micros: Some(5_000),
            ..Usage::default()
        };
        let mut record = Record {
            usage,
            ..Record::default()
        };
        add(&mut record, told, passed);
        record.usage
    }

    #[test]
    fn what_a_run_spent_past_its_program_is_counted() {
        let passed = |input, output| [("claude-sonnet-5".to_owned(), tokens(input, output))];
        let honest = after(None, &passed(1_000, 100));
        assert_eq!((honest.usd_micros, honest.estimated), (Some(5_000), false));
        assert_eq!(after(Some(tokens(3_000, 300)), &passed(3_000, 300)), honest);
        assert_eq!(after(None, &[]), honest);
        let past = after(None, &passed(1_001_000, 100));
        assert_eq!(past.tokens, tokens(1_001_000, 100));
        assert!(
            past.estimated && past.usd_micros.is_some_and(|micros| micros > 1_000_000),
            "{past:?}"
        );
    }
}
