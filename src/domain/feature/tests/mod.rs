mod added;
mod behaviour;
mod commands;
mod hands;
mod reviews;
mod samples;
mod table;
mod walk;
