//! Tests of threads and runs over the store in memory.
