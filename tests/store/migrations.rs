//! Both databases have the same tables, keep their content, and accept every statement.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use support::postgres;

use autobuild::store::{MIGRATIONS, OpenOptions, RunState, Store};
use domain::ids::{AppId, FeatureKey, IssueNumber, RepoId};
use sqlx::{Connection, Executor, PgConnection, Row, SqlSafeStr, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{collections::BTreeSet, path::Path};
use tempfile::TempDir;

/// Rows of every table, in SQL that runs on both except for the type `BYTES`.
const SAMPLE: &str = concat!(include_str!("../data/migrations/0001.sql"), include_str!("../data/migrations/0002.sql"));

fn sample(bytes: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(SAMPLE.replace("BYTES", bytes))
}

struct Both {
    sqlite_url: String,
    postgres_url: String,
    sqlite: SqliteConnection,
    postgres: PgConnection,
    _folder: TempDir,
}

/// Creates two empty databases.
async fn empty() -> Both {
    let folder = support::folder::folder("autobuild-migrations-");
    let path = folder.path().join("autobuild.db");
    let postgres_url = postgres::database().await;
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true).foreign_keys(true);
    Both {
        sqlite_url: format!("sqlite:{}", path.display()),
        sqlite: SqliteConnection::connect_with(&options).await.unwrap(),
        postgres: PgConnection::connect(&postgres_url).await.unwrap(),
        postgres_url,
        _folder: folder,
    }
}

/// Creates two databases with the store's tables.
async fn migrated() -> Both {
    let both = empty().await;
    for url in [&both.sqlite_url, &both.postgres_url] {
        Store::open(url, OpenOptions::default()).await.unwrap().close().await;
    }
    both
}

#[test]
fn the_folders_hold_what_the_program_applies_and_nothing_else() {
    for (index, migration) in MIGRATIONS.iter().enumerate() {
        assert_eq!(usize::try_from(migration.number).unwrap(), index + 1);
    }
    let applied: BTreeSet<String> =
        MIGRATIONS.iter().map(|migration| format!("{:04}_{}.sql", migration.number, migration.name)).collect();
    for folder in ["migrations/sqlite", "migrations/postgres"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files: BTreeSet<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(files, applied);
    }
}

#[tokio::test]
async fn both_databases_have_the_same_tables() {
    let mut both = migrated().await;
    let sqlite = both
        .sqlite
        .fetch_all(
            "SELECT t.name AS tab, c.name AS col, c.type AS kind, c.\"notnull\" = 1 OR c.pk > 0 AS needed \
             FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
        )
        .await
        .unwrap();
    let sqlite: BTreeSet<_> = sqlite
        .iter()
        .map(|row| {
            let kind = match row.get::<&str, _>("kind") {
                "INTEGER" | "BIGINT" => "bigint",
                "TEXT" => "text",
                "BLOB" => "bytea",
                other => panic!("{other} is neither TEXT, BIGINT nor BLOB"),
            };
            column(row.get("tab"), row.get("col"), kind, row.get::<bool, _>("needed"))
        })
        .collect();
    let postgres = both
        .postgres
        .fetch_all(
            "SELECT table_name::text AS tab, column_name::text AS col, data_type::text AS kind, is_nullable = 'NO' AS needed \
             FROM information_schema.columns WHERE table_schema = 'public'",
        )
        .await
        .unwrap();
    let postgres: BTreeSet<_> =
        postgres.iter().map(|row| column(row.get("tab"), row.get("col"), row.get("kind"), row.get("needed"))).collect();
    assert!(sqlite.len() > 60, "{} columns", sqlite.len());
    assert_eq!(sqlite, postgres);
}

fn column(table: &str, name: &str, kind: &str, needed: bool) -> String {
    format!("{table}.{name} {kind}{}", if needed { " not null" } else { "" })
}

#[tokio::test]
async fn both_databases_have_the_same_indexes() {
    let mut both = migrated().await;
    let sqlite = "SELECT name || CASE WHEN sql LIKE 'CREATE UNIQUE%' THEN ' unique' ELSE '' END \
                  || CASE WHEN sql LIKE '% WHERE %' THEN ' partial' ELSE '' END AS found \
                  FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL";
    let postgres = "SELECT indexname || CASE WHEN indexdef LIKE 'CREATE UNIQUE%' THEN ' unique' ELSE '' END \
                    || CASE WHEN indexdef LIKE '% WHERE %' THEN ' partial' ELSE '' END AS found \
                    FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%_key' AND indexname NOT LIKE '%_pkey'";
    let sqlite = both.sqlite.fetch_all(sqlite).await.unwrap();
    let postgres = both.postgres.fetch_all(postgres).await.unwrap();
    let sqlite: BTreeSet<String> = sqlite.iter().map(|row| row.get("found")).collect();
    let postgres: BTreeSet<String> = postgres.iter().map(|row| row.get("found")).collect();
    assert!(sqlite.contains("feature_unfinished unique partial"), "{sqlite:?}");
    assert_eq!(sqlite, postgres);
}

#[tokio::test]
async fn every_statement_is_taken_by_both_databases() {
    let mut both = migrated().await;
    let statements = autobuild::store::statements();
    assert!(statements.len() > 30, "{} statements", statements.len());
    for sql in statements {
        if let Err(error) = (&mut both.sqlite).prepare(sql.into_sql_str()).await {
            panic!("SQLite: {error}\n{sql}");
        }
        if let Err(error) = (&mut both.postgres).prepare(sql.into_sql_str()).await {
            panic!("PostgreSQL: {error}\n{sql}");
        }
    }
}

#[tokio::test]
async fn stored_rows_outlive_a_restart() {
    let mut both = migrated().await;
    both.sqlite.execute(sqlx::raw_sql(sample("BLOB"))).await.unwrap();
    both.postgres.execute(sqlx::raw_sql(sample("BYTEA"))).await.unwrap();
    both.sqlite.close().await.unwrap();
    both.postgres.close().await.unwrap();
    for url in [&both.sqlite_url, &both.postgres_url] {
        reads_the_sample(url).await;
    }
}

async fn reads_the_sample(url: &str) {
    let store = Store::open(url, OpenOptions::default()).await.unwrap();
    let key = FeatureKey { repo: RepoId(500), issue: IssueNumber(42), run: 1 };
    let feature = store.feature(&key).await.unwrap().expect("the sample's feature");
    assert_eq!((feature.version, feature.tasks.len(), feature.turns.len()), (2, 2, 1));
    assert_eq!(feature.tasks[1].needs, [feature.tasks[0].id]);
    assert_eq!(store.events(&key).await.unwrap().len(), 2);
    assert_eq!(store.effects_of(&key).await.unwrap().len(), 2);
    assert!(store.delivery(AppId(7), "d-1").await.unwrap().is_some());
    assert_eq!(store.meta("cursor").await.unwrap().as_deref(), Some("9"));
    let commit = "a".repeat(40).parse().unwrap();
    let baseline = store.baseline(RepoId(500), &commit, "c0ffee").await.unwrap();
    assert!(baseline.is_some());
    let runs = store.runs_of(&key, None).await.unwrap();
    let states: Vec<RunState> = runs.iter().map(|run| run.state).collect();
    assert_eq!(states, [RunState::Ended, RunState::Running]);
    let prompts: Vec<u64> = runs.iter().map(|run| run.prompt_chars).collect();
    assert_eq!(prompts, [9_000, 12_000]);
    assert!(store.is_spent("session 9000-0").await.unwrap());
    assert_eq!(store.at_work(&key).await.unwrap(), [], "nobody holds the effect any more");
    store.close().await;
}
