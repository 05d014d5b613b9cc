//! Tests of what an attached client is sent.
