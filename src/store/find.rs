//! Finds Features by an issue, a branch, a pull request, a repository or an installation.

use crate::store::{
    error::StoreError,
    feature,
    feature::{FeatureRow, columns},
    row::{Row, column},
    sql::{Arg, args, statements},
    store::Store,
};
use domain::ids::{FeatureKey, InstallationId, IssueNumber, Millis, PullNumber, RepoId, TaskId};

/// The condition for an unfinished Feature. It must have the same text as in the partial unique index.
macro_rules! unfinished {
    () => {
        "state NOT IN ('completed', 'cancelled', 'failed')"
    };
}

/// Finds a Feature by one of its columns or by one of its Tasks'.
macro_rules! by {
    ($column:literal) => {
        concat!(
            "SELECT ",
            prefixed!(),
            ", NULL AS task_name FROM feature f WHERE f.repo_id = $1 AND f.",
            $column,
            " = $2 ",
            "UNION ALL SELECT ",
            prefixed!(),
            ", t.name AS task_name FROM task t JOIN feature f ON f.id = t.feature_id ",
            "WHERE t.repo_id = $1 AND t.",
            $column,
            " = $2 LIMIT 1"
        )
    };
}

/// The columns of a Feature, prefixed because a joined table has the same names.
macro_rules! prefixed {
    () => {
        "f.id, f.installation_id, f.state, f.branch, f.pull_number, f.held"
    };
}

statements! {
    LATEST = concat!("SELECT ", columns!(), " FROM feature WHERE repo_id = $1 AND issue_number = $2",
                     " ORDER BY run DESC LIMIT 1");
    UNFINISHED_RUN = concat!("SELECT ", columns!(), " FROM feature WHERE repo_id = $1 AND issue_number = $2",
                             " AND ", unfinished!());
    BY_BRANCH = by!("branch");
    BY_PULL = by!("pull_number");
    KNOWN_CAUSE = concat!("SELECT e.seq FROM feature f JOIN event e ON e.stream = f.id AND e.cause = $2",
                          " WHERE f.repo_id = $1 LIMIT 1");
    UNFINISHED = concat!("SELECT ", columns!(), " FROM feature WHERE ", unfinished!(),
                         " AND installation_id = COALESCE($1, installation_id) AND repo_id = COALESCE($2, repo_id)",
                         " ORDER BY repo_id, issue_number");
    ALL = concat!("SELECT ", columns!(), " FROM feature",
                  " WHERE installation_id = COALESCE($1, installation_id) AND repo_id = COALESCE($2, repo_id)",
                  " ORDER BY repo_id, issue_number, run");
    CANCELLED = concat!("SELECT ", columns!(), " FROM feature WHERE repo_id = $1 AND state = 'cancelled'",
                        " ORDER BY issue_number, run");
    LIST_UNFINISHED = concat!("SELECT id, installation_id, version FROM feature WHERE ", unfinished!(),
                              " ORDER BY repo_id, issue_number");
    LIST_COMPARABLE = concat!("SELECT id, installation_id, version FROM feature WHERE ", unfinished!(),
                              " OR (state = 'cancelled' AND pull_number IS NOT NULL AND",
                              " (SELECT at FROM event e WHERE e.stream = feature.id ORDER BY seq DESC LIMIT 1) >= $1)",
                              " ORDER BY repo_id, issue_number");
    LIST_ENDED = concat!("SELECT id, installation_id, version FROM feature WHERE NOT (", unfinished!(), ")",
                         " ORDER BY (SELECT at FROM event e WHERE e.stream = feature.id ORDER BY seq DESC LIMIT 1) DESC,",
                         " id LIMIT $1");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Installation(InstallationId),
    /// Features of one repository.
    Repo(RepoId),
}

/// A Feature found by a branch or a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFeature {
    pub feature: FeatureRow,
    /// The Task whose branch or pull request it is; `None` if it is the Feature's own.
    pub task: Option<TaskId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFeature {
    pub key: FeatureKey,
    /// The installation that gives access to its repository.
    pub installation: InstallationId,
    pub version: i64,
}

impl Store {
    /// Returns the newest run of an issue, finished or not.
    pub async fn latest_run(&self, repo: RepoId, issue: IssueNumber) -> Result<Option<FeatureRow>, StoreError> {
        self.one(LATEST, args![column(repo.0)?, column(issue.0)?]).await
    }

    /// Returns the unfinished run of an issue. There is at most one.
    pub async fn unfinished_run(&self, repo: RepoId, issue: IssueNumber) -> Result<Option<FeatureRow>, StoreError> {
        self.one(UNFINISHED_RUN, args![column(repo.0)?, column(issue.0)?]).await
    }

    pub async fn by_branch(&self, repo: RepoId, branch: &str) -> Result<Option<FoundFeature>, StoreError> {
        self.find_one(BY_BRANCH, args![column(repo.0)?, branch]).await
    }

    pub async fn by_pull(&self, repo: RepoId, pull: PullNumber) -> Result<Option<FoundFeature>, StoreError> {
        self.find_one(BY_PULL, args![column(repo.0)?, column(pull.0)?]).await
    }

    /// Returns `true` if this cause has changed a Feature of the repository.
    pub async fn knows_cause(&self, repo: RepoId, cause: &str) -> Result<bool, StoreError> {
        Ok(self.db.row(KNOWN_CAUSE, args![column(repo.0)?, cause]).await?.is_some())
    }

    pub async fn unfinished(&self, scope: Scope) -> Result<Vec<FeatureRow>, StoreError> {
        self.many(UNFINISHED, scope).await
    }

    /// Returns all Features, ordered by repository, issue and run.
    pub async fn features(&self, scope: Scope) -> Result<Vec<FeatureRow>, StoreError> {
        self.many(ALL, scope).await
    }

    /// Returns the cancelled Features of a repository, ordered by issue and run.
    pub async fn cancelled(&self, repo: RepoId) -> Result<Vec<FeatureRow>, StoreError> {
        let rows = self.db.rows(CANCELLED, args![column(repo.0)?]).await?;
        rows.iter().map(feature::read).collect()
    }

    /// Lists the unfinished Features, ordered by repository and issue.
    pub async fn list_unfinished(&self) -> Result<Vec<ListedFeature>, StoreError> {
        let rows = self.db.rows(LIST_UNFINISHED, args![]).await?;
        rows.iter().map(read_listed).collect()
    }

    /// Lists the unfinished Features, and those that were cancelled with a pull request and whose last event is not before
    /// `since`: people can still merge it or open it again.
    pub async fn list_comparable(&self, since: Millis) -> Result<Vec<ListedFeature>, StoreError> {
        let rows = self.db.rows(LIST_COMPARABLE, args![since.0]).await?;
        rows.iter().map(read_listed).collect()
    }

    /// Lists at most `most` Features that ended, the newest first.
    pub async fn list_ended(&self, most: u32) -> Result<Vec<ListedFeature>, StoreError> {
        let rows = self.db.rows(LIST_ENDED, args![i64::from(most)]).await?;
        rows.iter().map(read_listed).collect()
    }

    async fn one(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<Option<FeatureRow>, StoreError> {
        let row = self.db.row(sql, args).await?;
        row.map(|row| feature::read(&row)).transpose()
    }

    async fn many(&self, sql: &'static str, scope: Scope) -> Result<Vec<FeatureRow>, StoreError> {
        let (installation, repo) = match scope {
            Scope::All => (None, None),
            Scope::Installation(id) => (Some(column(id.0)?), None),
            Scope::Repo(id) => (None, Some(column(id.0)?)),
        };
        let rows = self.db.rows(sql, args![installation, repo]).await?;
        rows.iter().map(feature::read).collect()
    }

    async fn find_one(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<Option<FoundFeature>, StoreError> {
        let Some(row) = self.db.row(sql, args).await? else {
            return Ok(None);
        };
        Ok(Some(FoundFeature { feature: feature::read(&row)?, task: row.opt_parsed("task_name")? }))
    }
}

fn read_listed(row: &Row) -> Result<ListedFeature, StoreError> {
    Ok(ListedFeature {
        key: row.parsed("id")?,
        installation: InstallationId(row.count("installation_id")?),
        version: row.int("version")?,
    })
}
