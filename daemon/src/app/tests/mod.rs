//! The App tools as a stock MCP client finds them, over the pair in memory that runs use too (APP-6, APP-8).

mod changing;
mod navigating;
mod notes;
mod paging;
mod reading;
mod schemas;
mod searching;
mod serving;
mod settings;
mod standing;
mod waiting;
mod world;
