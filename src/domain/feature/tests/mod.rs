mod added;
mod behaviour;
mod commands;
mod hands;
mod samples;
mod table;
mod walk;
